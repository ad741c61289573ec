// The second shape that is built: 4 x 4 x 1, 32 KiB, 64 bytes a cycle.
+define+NPU_OC_LANES=4
+define+NPU_IC_LANES=4
+define+NPU_PIXELS=1
+define+NPU_ACCUMULATORS=512
+define+NPU_SPM_BYTES=32768
+define+NPU_SPM_BYTES_PER_CYCLE=64
+define+NPU_EW_LANES=2
