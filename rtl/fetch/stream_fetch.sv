// Address generator of ELTWISE, LUT and SOFTMAX: runs of contiguous results, cut into lines that fit a window. ELTWISE
// has two windows a line, the others one; SOFTMAX goes over each row three times.
module stream_fetch
  import npu_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic start,
    input logic [7:0] opcode,
    input logic [INSTR_BITS-1:0] instr,
    input logic line_room,
    output logic rd_en,
    output addr_t rd_addr,
    output capture_t capture,
    output logic line_push,
    output line_t line,
    output logic done
);
  localparam int USE = WIN - 7;
  localparam int RUN = USE / EW * EW;  // elements of a line
  eltwise_t e;
  lut_t t;
  softmax_t m;
  assign e = instr[ELTWISE_BITS-1:0];
  assign t = instr[LUT_BITS-1:0];
  assign m = instr[SOFTMAX_BITS-1:0];

  // The instruction as rows of runs of elements.
  int rows, runs, length, a_addr, a_row, a_run, b_addr, b_row, b_run, o_addr, o_row, o_run;
  logic two, a_moves, b_moves, dense;
  always_comb begin
    two = opcode == OP_ELTWISE;
    {rows, runs, length, a_addr, a_row, a_run, b_addr, b_row, b_run, o_addr, o_row, o_run} = '0;
    {a_moves, b_moves, dense} = 3'b110;
    rows = 1;
    runs = 1;
    if (two) begin
      // Pixels that follow each other without a gap in all three tiles are one run.
      dense = e.a_ch_stride && e.b_ch_stride && 32'(e.a_px_stride) == 32'(e.ofm_c) &&
              32'(e.b_px_stride) == 32'(e.ofm_c) && 32'(e.ofm_px_stride) == 32'(e.ofm_c);
      rows = int'(e.ofm_h);
      runs = dense ? 1 : int'(e.ofm_w);
      length = dense ? int'(e.ofm_w) * int'(e.ofm_c) : int'(e.ofm_c);
      {a_addr, a_row, a_run} = {32'(e.a_addr), 32'(e.a_row_stride), 32'(e.a_px_stride)};
      {b_addr, b_row, b_run} = {32'(e.b_addr), 32'(e.b_row_stride), 32'(e.b_px_stride)};
      {o_addr, o_row, o_run} = {32'(e.ofm_addr), 32'(e.ofm_row_stride), 32'(e.ofm_px_stride)};
      {a_moves, b_moves} = {e.a_ch_stride, e.b_ch_stride};
    end else if (opcode == OP_LUT) begin
      length = int'(t.count);
      a_addr = int'(t.ifm_addr);
      o_addr = int'(t.ofm_addr);
    end else begin
      rows = int'(m.rows);
      length = int'(m.length);
      {a_addr, a_row} = {32'(m.ifm_addr), 32'(m.ifm_row_stride)};
      {o_addr, o_row} = {32'(m.ofm_addr), 32'(m.ofm_row_stride)};
    end
  end

  typedef enum logic [1:0] {IDLE, RUNNING, DONE} state_e;
  state_e state;
  int row, run, from, a, b, o, a_first, b_first, o_first;  // *_first: of the row
  logic [1:0] pass;
  logic second;  // the second window of the line is still to come
  addr_t a_at, b_at;
  int n;
  logic close;
  always_comb begin
    a_at = addr_t'(a + (a_moves ? from : 0));
    b_at = addr_t'(b + (b_moves ? from : 0));
    n = length - from < RUN ? length - from : RUN;
    close = two && int'(addr_t'(b_at - {a_at[AW-1:3], 3'd0})) + (b_moves ? n : 1) <= WIN;
    line = '0;
    line.len = (WB + 1)'(n);
    line.steps = (WB + 1)'((n + EW - 1) / EW);
    line.valid[0] = 1'b1;
    line.off[0] = a_at[WB-1:0];
    line.off[1] = b_at[WB-1:0];
    line.hi = '1;
    line.out[0] = addr_t'(o + from);
    line.pass = pass;
    line.row_end = from + n == length;
    rd_en = state == RUNNING && line_room;
    rd_addr = second ? b_at : a_at;
    capture = '0;
    capture.en = rd_en;
    capture.target = TO_LINE;
    capture.mask = second ? (OC + NL)'(2) : close ? (OC + NL)'(3) : (OC + NL)'(1);
    line_push = rd_en && (!two || second || close);
    done = state == DONE;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= IDLE;
    end else if (start) begin
      state <= RUNNING;
      {row, run, from} <= '0;
      {a, b, o} <= {a_addr, b_addr, o_addr};
      {a_first, b_first, o_first} <= {a_addr, b_addr, o_addr};
      pass <= '0;
      second <= 1'b0;
    end else if (rd_en) begin
      second <= !line_push;
      if (line_push) begin
        from <= from + n;
        if (line.row_end) begin
          from <= 0;
          if (opcode == OP_SOFTMAX && pass != 2) begin
            pass <= pass + 1;
          end else begin
            pass <= '0;
            run <= run + 1;
            {a, b, o} <= {a + a_run, b + b_run, o + o_run};
            if (run + 1 == runs) begin
              run <= 0;
              row <= row + 1;
              {a, b, o} <= {a_first + a_row, b_first + b_row, o_first + o_row};
              {a_first, b_first, o_first} <= {a_first + a_row, b_first + b_row, o_first + o_row};
              if (row + 1 == rows) state <= DONE;
            end
          end
        end
      end
    end
  end
endmodule
