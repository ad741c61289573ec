lint.vlt
weight_decoder/weight_codec_pkg.sv
weight_decoder/code_table.sv
weight_decoder/weight_decoder.sv
