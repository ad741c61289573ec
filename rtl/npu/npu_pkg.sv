// What the blocks of the compute path share: the shape, and what passes between them.
`include "npu_shape.svh"
package npu_pkg;
  `include "npu_isa.svh"

  parameter int OC = `NPU_OC_LANES;
  parameter int IC = `NPU_IC_LANES;
  parameter int P = `NPU_PIXELS;
  parameter int EW = `NPU_EW_LANES;
  parameter int ACCS = `NPU_ACCUMULATORS;
  parameter int SPM_BYTES = `NPU_SPM_BYTES;
  parameter int WIN = `NPU_SPM_BYTES_PER_CYCLE;  // bytes of a window: one word of every bank

  parameter int BANKS = WIN / 8;
  parameter int ROWS = SPM_BYTES / WIN;
  parameter int AW = $clog2(SPM_BYTES);
  parameter int WB = $clog2(WIN);
  parameter int RW = $clog2(ROWS);
  parameter int NL = P < 2 ? 2 : P;               // windows of a line; element-wise takes two
  parameter int CONV_USE = (WIN - 7) / IC * IC;   // bytes of a window that are there at any alignment, whole steps
  parameter int CH_BLOCKS = (WIN - 7) / OC;       // the same in blocks of OC channels
  parameter int PRM_BLOCKS = (WIN - 7) / (12 * OC);  // blocks whose parameters fit into a window
  parameter int PRM_DEPTH = 32;                   // blocks that the output stage holds parameters of
  parameter int PRM_AHEAD = 4;                    // CONV: blocks of output channels whose parameters are in use at once
  parameter int WLINES = 2 * OC;                  // weight windows: two halves of one for each output-channel lane
  parameter int PARTS = ACCS / (OC * P);          // partial sums of that many groups of pixels
  parameter int LINES = 4;
  parameter int RESULTS = 32;
  parameter int TABLE_WINS = (1024 + 7 + WIN - 1) / WIN;  // the largest table, exponentials, at any alignment
  parameter int LUT_WINS = (256 + 7 + WIN - 1) / WIN;
  // Cycles from the last step to `done`, less one; a group's second and later pixels add one each.
  parameter int DRAIN_WINDOW = 7;
  parameter int DRAIN_STREAM = 6;
  parameter int DRAIN_FILL = 1;

  typedef logic [8*WIN-1:0] window_t;             // in the order of the banks: byte a lies at a mod WIN
  typedef logic [AW-1:0] addr_t;

  typedef enum logic [1:0] {TO_LINE, TO_WEIGHTS, TO_PARAMS, TO_TABLE} target_e;
  // Where the window that was asked for in the cycle before goes.
  typedef struct packed {
    logic en;
    target_e target;
    logic [OC+NL-1:0] mask;          // which of the lanes' weight windows, the line's windows, or the blocks of parameters
    logic [7:0] slot;                // line, first weight window, first block of parameters, window of the table
    logic [WB-1:0] base;             // of the parameters: first byte
    logic [OC-1:0][WB-1:0] off;      // of the weights: each lane's first byte
  } capture_t;

  // A line: up to NL windows of input (pixels of a group; operands), and what the step engine does with them.
  typedef struct packed {
    logic [NL-1:0][WB-1:0] off;      // first byte in its window
    logic [NL-1:0][WB:0] lo, hi;     // bytes of the line inside the image
    logic [NL-1:0] valid;
    logic [WB:0] len;                // bytes (convolution), channels or elements
    logic [WB:0] steps;
    logic [WB-1:0] wbase;            // convolution: first weight byte in the lanes' windows
    logic [7:0] wline;               // first weight window
    logic [15:0] rem;                // depthwise: output channels into the first input channel
    logic first, last;               // of the group in this block of the kernel
    logic zero, fin;                 // this block is the kernel's first, last
    logic phase_end, outer_end;
    logic [15:0] part;               // partial sums
    logic [NL-1:0][AW-1:0] out;
    logic [NL-1:0][31:0] held;
    logic [5:0] prm;
    logic [15:0] lanes;              // output channels of a convolution's block
    logic [1:0] pass;                // softmax
    logic row_end;                   // softmax: last line of the pass
  } line_t;

  typedef enum logic [1:0] {RULE_REQUANT, RULE_RAW, RULE_AVERAGE} rule_e;
  // CONV, DWCONV and POOL as the address generator takes them (fetch/window_op.sv). Addresses are sums modulo the
  // scratchpad's size: a window may begin before the image, and only bytes inside it count.
  typedef struct packed {
    logic conv, pool, dense, halves, need_params;
    int group, mult;
    int ifm_h, ifm_w, ifm_c, ofm_h, ofm_w, ofm_c, k_h, k_w, stride_h, stride_w, dil_h, dil_w, pad_top, pad_left;
    int px, row, origin, ofm_addr, ofm_px, ofm_row;
    int weights, w_step, params;
    int step_x, step_y, tap_x, tap_y;
    int row_bytes, step_bytes, left_bytes;
    int segments, seg_bytes, part_bytes, block_segments, blocks, passes, pass_blocks, chunk;
  } window_op_t;

  // What the output stage does with every result of an instruction.
  typedef struct packed {
    rule_e rule;
    logic [1:0] rounding;
    logic signed [31:0] zp, low, high;
    logic lut_en, u8;
    logic keep, hold;                // accumulators
    logic own_params;                // multiplier and shift of the instruction instead of the channel's
    logic signed [31:0] mult, shift;
  } stage_t;

  // A pixel's results on their way through the output stage.
  typedef struct packed {
    logic [OC-1:0][31:0] value;
    logic [OC-1:0][31:0] mult;
    logic [OC-1:0][31:0] shift;
    logic [31:0] count;              // average pooling: taps inside
    addr_t addr;
    logic [15:0] n;
  } beat_t;
endpackage
