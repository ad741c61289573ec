// Parameters of output channels: bias, multiplier and shift, 12 bytes each, taken from windows of the scratchpad.
module params
  import npu_pkg::*;
(
    input logic clk,
    input capture_t capture,
    input window_t data,
    input logic [5:0] index,
    output logic [OC-1:0][31:0] bias, mult, shift
);
  logic [OC-1:0][95:0] record[PRM_DEPTH];
  always_ff @(posedge clk)
    if (capture.en && capture.target == TO_PARAMS)
      for (int n = 0; n < PRM_BLOCKS; ++n)
        if (capture.mask[n] && int'(capture.slot) + n < PRM_DEPTH)
          for (int l = 0; l < OC; ++l) begin
            logic [95:0] bytes;
            logic [WB-1:0] k;
            for (int i = 0; i < 12; ++i) begin
              k = capture.base + WB'(12 * (n * OC + l) + i);
              bytes[8*i+:8] = data[{k, 3'd0}+:8];
            end
            record[int'(capture.slot)+n][l] <= bytes;
          end
  always_comb
    for (int l = 0; l < OC; ++l) {shift[l], mult[l], bias[l]} = record[index[4:0]][l];
endmodule
