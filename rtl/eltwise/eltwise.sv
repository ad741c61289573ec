// ELTWISE: scales both elements (add, sub), combines them, and hands the sum to the output stage. LUT: hands the byte on.
module eltwise
  import npu_pkg::*;
  import requant_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic [7:0] opcode,
    input logic [INSTR_BITS-1:0] instr,
    input logic step,
    input line_t line,
    input logic [WB:0] at,
    input logic [EW-1:0][7:0] a, b,
    output logic busy,
    output logic beat_en,
    output beat_t beat
);
  eltwise_t e;
  assign e = instr[ELTWISE_BITS-1:0];
  logic en;
  assign busy = step || en || beat_en;
  logic signed [EW-1:0][31:0] sa, sb;
  addr_t addr;
  logic [15:0] n;

  function automatic logic signed [31:0] scale(input logic signed [31:0] v, mult, shift);
    case (e.rounding)
      2'd0: return requant_double(v <<< e.left_shift, mult, shift);
      2'd1: return requant_single(v <<< e.left_shift, mult, shift);
      default: return v * mult;
    endcase
  endfunction

  always_ff @(posedge clk) begin
    en <= step && !rst;
    if (step) begin
      addr <= line.out[0] + addr_t'(int'(at) * EW);
      n <= int'(line.len) - int'(at) * EW < EW ? 16'(int'(line.len) - int'(at) * EW) : 16'(EW);
      for (int i = 0; i < EW; ++i) begin
        logic signed [31:0] x, y;
        x = 32'(signed'(a[i]));
        y = 32'(signed'(b[i]));
        if (opcode == OP_ELTWISE && e.mode <= 2) begin
          x -= 32'(signed'(e.a_zp));
          y -= 32'(signed'(e.b_zp));
        end
        if (opcode == OP_ELTWISE && e.mode <= 1) begin
          x = scale(x, e.a_mult, 32'(signed'(e.a_shift)));
          y = scale(y, e.b_mult, 32'(signed'(e.b_shift)));
        end
        sa[i] <= x;
        sb[i] <= y;
      end
    end
    beat_en <= en && !rst;
    if (en) begin
      beat <= '0;
      beat.addr <= addr;
      beat.n <= n;
      for (int i = 0; i < EW; ++i) begin
        beat.mult[i] <= e.mode <= 1 && e.rounding == 2 ? 32'd1 : e.o_mult;
        beat.shift[i] <= e.mode <= 1 && e.rounding == 2 ? 32'sd31 - 32'(signed'(e.o_shift)) : 32'(signed'(e.o_shift));
        if (opcode != OP_ELTWISE) beat.value[i] <= sa[i];
        else
          case (e.mode)
            3'd0: beat.value[i] <= sa[i] + sb[i];
            3'd1: beat.value[i] <= sa[i] - sb[i];
            3'd2: beat.value[i] <= 32'(signed'(sa[i])) * 32'(signed'(sb[i]));
            3'd3: beat.value[i] <= $signed(sa[i]) < $signed(sb[i]) ? sa[i] : sb[i];
            default: beat.value[i] <= $signed(sa[i]) > $signed(sb[i]) ? sa[i] : sb[i];
          endcase
      end
    end
  end
endmodule
