// P x OC dot products of IC products each, a cycle. DWCONV and POOL use the first multiplier of every dot product.
module mac_array
  import npu_pkg::*;
(
    input logic clk,
    input logic en,
    input logic conv,
    input logic signed [P-1:0][IC-1:0][8:0] x,
    input logic signed [OC-1:0][IC-1:0][8:0] w,
    input logic signed [P-1:0][OC-1:0][8:0] dx,
    output logic signed [P-1:0][OC-1:0][31:0] sum
);
  always_ff @(posedge clk) begin
    if (en)
      for (int p = 0; p < P; ++p)
        for (int l = 0; l < OC; ++l) begin
          logic signed [31:0] s;
          s = '0;
          if (conv) for (int i = 0; i < IC; ++i) s += 32'(signed'(x[p][i])) * 32'(signed'(w[l][i]));
          else s = 32'(signed'(dx[p][l])) * 32'(signed'(w[l][0]));
          sum[p][l] <= s;
        end
  end
endmodule
