// Requantise (or divide, or neither), add the zero point, clamp, map through the table, flip: a pixel's OC results a cycle,
// in three stages, to the scratchpad's write port.
module output_stage
  import npu_pkg::*;
  import requant_pkg::*;
(
    input logic clk,
    input logic rst,
    input stage_t stage,
    input capture_t capture,         // the table's windows
    input window_t data,
    input logic [WB-1:0] table_off,  // its first byte
    input logic beat_en,
    input beat_t beat,
    output logic busy,
    output logic wr_en,
    output addr_t wr_addr,
    output logic [BANKS-1:0][7:0] wr_be,
    output window_t wr_data
);
  window_t lut[LUT_WINS];
  logic en1, en2;
  beat_t b1, b2;
  logic [OC-1:0][31:0] scaled;
  logic [OC-1:0][7:0] bytes, results;
  localparam int LW = $clog2(LUT_WINS * WIN);

  always_ff @(posedge clk)
    if (capture.en && capture.target == TO_TABLE && int'(capture.slot) < LUT_WINS) lut[int'(capture.slot)] <= data;

  // Byte i of the table: windows begin with the word that holds the first byte and are in bank order.
  function automatic logic [7:0] look_up(input logic [7:0] i, input logic [WB-1:0] off);
    logic [LW-1:0] k;
    logic [WB-1:0] j;
    k = LW'(off[2:0]) + LW'(i);
    j = {off[WB-1:3], 3'd0} + k[WB-1:0];
    return lut[int'(k)/WIN][{j, 3'd0}+:8];
  endfunction

  always_ff @(posedge clk) begin
    en1 <= beat_en && !rst;
    if (beat_en) begin
      b1 <= beat;
      for (int l = 0; l < OC; ++l) begin
        logic signed [31:0] v, m, s;
        v = beat.value[l];
        m = beat.mult[l];
        s = legal_shift(beat.shift[l]);
        case (stage.rule)
          RULE_RAW: scaled[l] <= v;
          RULE_AVERAGE: scaled[l] <= average(v, beat.count) - (stage.u8 ? 32'sd128 : 32'sd0);
          default:
          case (stage.rounding)
            2'd0: scaled[l] <= requant_double(v, m, s);
            2'd1: scaled[l] <= requant_single(v, m, s);
            default: scaled[l] <= fp32_pkg::requant_fp32(v, m);
          endcase
        endcase
      end
    end
    en2 <= en1 && !rst;
    if (en1) begin
      b2 <= b1;
      for (int l = 0; l < OC; ++l)
        bytes[l] <= 8'(clamp_wide(33'(signed'(scaled[l])) + (stage.rule == RULE_REQUANT ? 33'(stage.zp) : 33'sd0),
                                  stage.low, stage.high));
    end
  end

  // Into the window that is written: the bytes may lie over the end of a word, in the next bank.
  always_comb begin
    for (int l = 0; l < OC; ++l)
      results[l] = (stage.lut_en ? look_up(bytes[l] ^ 8'h80, table_off) : bytes[l]) ^ (stage.u8 ? 8'h80 : 8'h00);
    wr_en = en2;
    wr_addr = b2.addr;
    wr_be = '0;
    wr_data = '0;
    for (int l = 0; l < OC; ++l) begin
      logic [WB-1:0] k;
      k = b2.addr[WB-1:0] + WB'(l);
      if (l < int'(b2.n)) begin
        wr_be[k[WB-1:3]][k[2:0]] = 1'b1;
        wr_data[{k, 3'd0}+:8] = results[l];
      end
    end
    busy = beat_en || en1 || en2;
  end
endmodule
