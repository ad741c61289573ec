// Takes finished groups apart, a pixel a cycle: adds the bias or the held sum, and either keeps the sum in the accumulators
// that CONV holds between instructions, or sends the pixel on.
module drain
  import npu_pkg::*;
(
    input logic clk,
    input logic rst,
    input stage_t stage,
    input logic ready,
    output logic pop,
    input logic [P-1:0][OC-1:0][31:0] value,
    input logic [P-1:0][31:0] count,
    input logic [P-1:0] valid,
    input addr_t [P-1:0] out,
    input logic [P-1:0][31:0] held,
    input logic [15:0] lanes,
    input logic outer_end,
    input logic [OC-1:0][31:0] bias, mult, shift,
    input logic params_arrived,      // of another block of output channels, or pass
    output logic beat_en,
    output beat_t beat,
    output logic [31:0] outers_drained
);
  localparam int CB = $clog2(ACCS);
  localparam int PB = P == 1 ? 1 : $clog2(P);
  logic signed [31:0] kept[ACCS]  /*verilator public_flat_rw*/;
  logic [PB-1:0] pixel;
  logic last, take;
  int params_there;  // blocks (passes) whose parameters have arrived
  assign take = ready && (stage.own_params || stage.keep && stage.hold || params_there > int'(outers_drained));
  always_comb begin
    last = 1'b1;
    for (int p = 0; p < P; ++p) if (p > int'(pixel) && valid[p]) last = 1'b0;
    pop = take && last;
  end
  always_ff @(posedge clk) begin
    beat_en <= take && !stage.hold && !rst;
    if (take) begin
      pixel <= last ? '0 : pixel + 1'b1;
      if (last && outer_end) outers_drained <= outers_drained + 1;
      beat.addr <= out[pixel];
      beat.n <= lanes;
      beat.count <= count[pixel];
      for (int l = 0; l < OC; ++l) begin
        logic [CB-1:0] at;
        logic [31:0] v;
        at = CB'(held[pixel] + 32'(l));
        v = value[pixel][l] + (stage.own_params ? 32'd0 : stage.keep ? kept[at] : bias[l]);
        if (stage.hold && l < int'(lanes)) kept[at] <= v;
        beat.value[l] <= v;
        beat.mult[l] <= stage.own_params ? stage.mult : mult[l];
        beat.shift[l] <= stage.own_params ? stage.shift : shift[l];
      end
    end
    if (params_arrived) params_there <= params_there + 1;
    if (rst) begin
      params_there <= 0;
      pixel <= '0;
      outers_drained <= '0;
    end
  end
endmodule
