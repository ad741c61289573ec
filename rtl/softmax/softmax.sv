// SOFTMAX: three passes over a row (largest value, sum of exponentials, scaling) and between the last two the reciprocal
// of the sum, a multiplication a cycle. Exponentials come from the table in the scratchpad.
module softmax
  import npu_pkg::*;
  import requant_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic [INSTR_BITS-1:0] instr,
    input capture_t capture,         // the table's windows
    input window_t data,
    input logic step,
    input line_t line,
    input logic [WB:0] at,
    input logic line_end,
    input logic [EW-1:0][7:0] x,
    output logic hold_back,          // the reciprocal is not there yet
    output logic busy,
    output logic beat_en,
    output beat_t beat
);
  localparam int RECIPROCAL_CYCLES = 16;
  localparam int SUM_INTEGER_BITS = 12;
  localparam logic signed [31:0] TWO = 32'sd1 <<< 29;                  // 1 with 29 fractional bits
  localparam logic signed [31:0] SEED = 32'sd1515870810;               // 48/17, the same
  localparam logic signed [31:0] SLOPE = -32'sd1010580540;             // -32/17
  softmax_t m;
  assign m = instr[SOFTMAX_BITS-1:0];
  logic fp32;
  assign fp32 = m.rounding == 2;

  window_t words[TABLE_WINS];
  localparam int LW = $clog2(TABLE_WINS * WIN);
  always_ff @(posedge clk) if (capture.en && capture.target == TO_TABLE) words[int'(capture.slot)] <= data;

  function automatic logic [31:0] exponential(input logic [7:0] difference);
    logic [31:0] word;
    word = '0;
    for (int i = 0; i < 4; ++i) begin
      logic [LW-1:0] k;
      logic [WB-1:0] j;
      k = LW'(m.exp_addr[2:0]) + LW'(int'(difference) * 4 + i);
      j = {m.exp_addr[WB-1:3], 3'd0} + k[WB-1:0];
      word[8*i+:8] = words[int'(k)/WIN][{j, 3'd0}+:8];
    end
    return word;
  endfunction

  function automatic logic signed [31:0] saturating_shl(input logic signed [31:0] v, input int n);
    logic signed [63:0] wide;
    wide = 64'(v) <<< n;
    return wide > 64'sh7FFF_FFFF ? 32'sh7FFF_FFFF : wide < -64'sh8000_0000 ? 32'sh8000_0000 : 32'(wide);
  endfunction

  logic signed [31:0] top, r, d, product;
  logic [31:0] sum, inverse;
  logic [5:0] shift;
  logic [4:0] phase;  // of the reciprocal; 0 when none is under way
  logic en, quiet;
  logic [EW-1:0][31:0] entry;
  addr_t addr;
  logic [15:0] n, lanes;
  assign lanes = int'(line.len) - int'(at) * EW < EW ? 16'(int'(line.len) - int'(at) * EW) : 16'(EW);
  logic row_end, last_of_sum;
  assign row_end = step && line.row_end && line_end;
  assign last_of_sum = row_end && line.pass == 1;
  assign hold_back = last_of_sum || phase != 0 && phase < 5'(RECIPROCAL_CYCLES);
  assign quiet = !step && !en && !beat_en && phase == 0;
  assign busy = !quiet;

  logic signed [31:0] top_next;
  logic [31:0] sum_next;
  always_comb begin
    top_next = top;
    sum_next = sum;
    for (int i = 0; i < EW; ++i) begin
      logic signed [31:0] v;
      v = 32'(signed'(x[i]));
      entry[i] = exponential(8'(top - v));
      if (i < int'(lanes)) begin
        if (v > top_next) top_next = v;
        sum_next = fp32 ? fp32_pkg::add(sum_next, entry[i]) : sum_next + div_pow2(entry[i], 6'(SUM_INTEGER_BITS));
      end
    end
  end

  always_ff @(posedge clk) begin
    en <= step && line.pass == 2 && !rst;
    if (step) begin
      case (line.pass)
        2'd0: top <= top_next;
        2'd1: sum <= sum_next;
        default: begin
          addr <= line.out[0] + addr_t'(int'(at) * EW);
          n <= lanes;
          if (row_end) top <= -32'sd128;
        end
      endcase
    end
    if (rst) top <= -32'sd128;
    if (rst || (step && line.pass == 0)) sum <= '0;

    // The reciprocal of the sum, with 31 fractional bits, by three Newton-Raphson steps.
    if (last_of_sum) phase <= 5'd1;
    else if (phase != 0) phase <= phase == 5'(RECIPROCAL_CYCLES) ? 5'd0 : phase + 5'd1;
    if (rst) phase <= '0;
    case (phase)
      5'd1: begin
        logic [31:0] normal;
        int headroom;
        headroom = fp32_pkg::leading_zeros({32'd0, sum}) - 32;
        normal = sum << headroom;
        d <= 32'(signed'((33'({1'b0, normal ^ 32'h8000_0000}) + 33'h7FFF_FFFF + 33'd1) >> 1));
        shift <= sum == 0 ? 6'(SUM_INTEGER_BITS + 31 - 8) : 6'(SUM_INTEGER_BITS - headroom + 31 - 8 < 0 ? 0 : SUM_INTEGER_BITS - headroom + 31 - 8);
        inverse <= fp32_pkg::mul(sum, m.scale);
      end
      5'd2: product <= high_mul(d, SLOPE);
      5'd3: r <= SEED + product;
      5'd4, 5'd7, 5'd10: product <= TWO - high_mul(d, r);
      5'd5, 5'd8, 5'd11: product <= high_mul(r, product);
      5'd6, 5'd9, 5'd12: r <= r + saturating_shl(product, 2);
      5'd13: begin
        r <= sum == 0 ? '0 : saturating_shl(r, 1);
        inverse <= fp32_pkg::reciprocal(inverse);
      end
      default: ;
    endcase

    // The third pass.
    if (step && line.pass == 2)
      for (int i = 0; i < EW; ++i)
        scaled[i] <= fp32
            ? fp32_pkg::to_int(fp32_pkg::add(fp32_pkg::mul(entry[i], inverse), 32'h3F00_0000), 20, 1'b0)
            : shift > 31 ? '0 : div_pow2(high_mul(r, entry[i]), shift);
    beat_en <= en && !rst;
    if (en) begin
      beat <= '0;
      beat.addr <= addr;
      beat.n <= n;
      for (int i = 0; i < EW; ++i) beat.value[i] <= clamp(scaled[i], 0, 255) - 32'sd128;
    end
  end
  logic [EW-1:0][31:0] scaled;
endmodule
