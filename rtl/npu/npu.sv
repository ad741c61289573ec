// The NPU's compute path: takes one decoded compute instruction at a time (the command processor and the queues stand before
// it) and works on its scratchpad. `start` for one cycle with the instruction; `done` in the last cycle of its work.
//
// Time. Set-up, the table and the first lines take their time beside a counter: the first step, or the first window of
// FILL, comes start_cycles - DRAIN_* cycles after `start`, later only where that is not enough. So an instruction takes
// start_cycles plus the cycles from its first step to its last (docs/rtl.md).
module npu
  import npu_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic start,
    input logic [7:0] opcode,
    input logic [INSTR_BITS-1:0] instr,
    input logic [13:0] start_cycles,
    output logic done
);
  logic [7:0] op;
  logic [INSTR_BITS-1:0] ins;
  logic begun, running;
  logic [31:0] elapsed;
  conv_t conv_i;
  dwconv_t dw_i;
  pool_t pool_i;
  eltwise_t elt_i;
  lut_t lut_i;
  fill_t fill_i;
  softmax_t soft_i;
  assign conv_i = ins[CONV_BITS-1:0];
  assign dw_i = ins[DWCONV_BITS-1:0];
  assign pool_i = ins[POOL_BITS-1:0];
  assign elt_i = ins[ELTWISE_BITS-1:0];
  assign lut_i = ins[LUT_BITS-1:0];
  assign fill_i = ins[FILL_BITS-1:0];
  assign soft_i = ins[SOFTMAX_BITS-1:0];

  logic conv, pool, window, element, exps, fill;
  assign conv = op == OP_CONV;
  assign pool = op == OP_POOL;
  assign window = conv || pool || op == OP_DWCONV;
  assign exps = op == OP_SOFTMAX;
  assign element = op == OP_ELTWISE || op == OP_LUT;
  assign fill = op == OP_FILL;

  // ---- what the instruction asks of the datapath ----
  stage_t stage;
  logic signed [8:0] x_zp, w_zp;
  logic maximum, has_table, a_moves, b_moves;
  logic [7:0] flip;
  addr_t table_addr;
  logic [7:0] table_windows;
  always_comb begin
    stage = '0;
    x_zp = '0;
    w_zp = '0;
    maximum = 1'b0;
    has_table = 1'b0;
    table_addr = '0;
    {a_moves, b_moves} = 2'b11;
    table_windows = 8'(LUT_WINS);
    `define OUTPUT_FIELDS(o)                                                                      \
      stage.rounding = o.rounding;                                                                \
      stage.zp = 32'(signed'(o.ofm_zp));                                                          \
      stage.low = 32'(signed'(o.act_min));                                                        \
      stage.high = 32'(signed'(o.act_max));                                                       \
      stage.lut_en = o.lut_en;                                                                    \
      stage.u8 = o.u8;                                                                            \
      has_table = o.lut_en;                                                                       \
      table_addr = addr_t'(o.lut_addr);
    case (op)
      OP_CONV: begin
        `OUTPUT_FIELDS(conv_i)
        stage.keep = conv_i.acc_keep;
        stage.hold = conv_i.acc_hold;
        x_zp = 9'(signed'(conv_i.ifm_zp));
        w_zp = 9'(signed'(conv_i.w_zp));
      end
      OP_DWCONV: begin
        `OUTPUT_FIELDS(dw_i)
        x_zp = 9'(signed'(dw_i.ifm_zp));
        w_zp = 9'(signed'(dw_i.w_zp));
      end
      OP_POOL: begin
        `OUTPUT_FIELDS(pool_i)
        stage.own_params = 1'b1;
        stage.mult = pool_i.multiplier;
        stage.shift = 32'(signed'(pool_i.shift));
        maximum = pool_i.mode == 0;
        stage.rule = pool_i.mode == 0 ? RULE_RAW : pool_i.mode == 1 ? RULE_AVERAGE : RULE_REQUANT;
        x_zp = pool_i.mode == 2 ? 9'(signed'(pool_i.ifm_zp)) : pool_i.mode == 1 && pool_i.u8 ? -9'sd128 : 9'sd0;
      end
      OP_ELTWISE: begin
        `OUTPUT_FIELDS(elt_i)
        stage.rule = elt_i.mode >= 3 ? RULE_RAW : RULE_REQUANT;
        if (elt_i.mode <= 1 && elt_i.rounding == 2) stage.rounding = 2'd1;
        {a_moves, b_moves} = {elt_i.a_ch_stride, elt_i.b_ch_stride};
      end
      OP_SOFTMAX: begin
        stage.rule = RULE_RAW;
        stage.low = -32'sd128;
        stage.high = 32'sd127;
        stage.u8 = soft_i.u8;
        has_table = 1'b1;
        table_addr = addr_t'(soft_i.exp_addr);
        table_windows = 8'(TABLE_WINS);
      end
      default: begin  // LUT
        stage.rule = RULE_RAW;
        stage.low = -32'sd128;
        stage.high = 32'sd127;
        stage.lut_en = 1'b1;
        has_table = op == OP_LUT;
        table_addr = addr_t'(lut_i.lut_addr);
      end
    endcase
    flip = stage.u8 ? 8'h80 : 8'h00;
  end

  // ---- the table, then the address generators ----
  logic [7:0] table_window;
  logic table_reading, fetch_start, fetch_started;
  assign table_reading = running && begun && has_table && table_window != table_windows;
  assign fetch_start = running && begun && !table_reading && !fetch_started;

  window_op_t wop;
  window_op window_op_i (.opcode(op), .instr(ins), .op(wop));
  window_op_t wop_now;

  logic line_room, w_rd, s_rd, w_push, s_push, w_done, s_done;
  addr_t w_addr, s_addr;
  capture_t w_cap, s_cap, cap, cap_next;
  line_t w_line, s_line;
  logic [31:0] phases_done, outers_drained;
  logic w_params_last, params_arrived;  // the latter with the capture
  window_fetch window_fetch_i (.clk, .rst, .start(fetch_start && window), .op(wop_now), .line_room, .phases_done, .outers_drained,
      .rd_en(w_rd), .rd_addr(w_addr), .capture(w_cap), .line_push(w_push), .line(w_line), .params_last(w_params_last), .done(w_done));
  stream_fetch stream_fetch_i (.clk, .rst, .start(fetch_start && (element || exps)), .opcode(op), .instr(ins), .line_room,
      .rd_en(s_rd), .rd_addr(s_addr), .capture(s_cap), .line_push(s_push), .line(s_line), .done(s_done));

  logic rd_en, wr_en, stage_wr, fill_wr;
  addr_t rd_addr, wr_addr, stage_addr, fill_addr;
  window_t rd_data, wr_data, stage_data, fill_data;
  logic [BANKS-1:0][7:0] wr_be, stage_be, fill_be;
  always_comb begin
    cap_next = window ? w_cap : s_cap;
    rd_en = window ? w_rd : s_rd;
    rd_addr = window ? w_addr : s_addr;
    if (table_reading) begin
      rd_en = 1'b1;
      rd_addr = table_addr + addr_t'(int'(table_window) * WIN);
      cap_next = '0;
      cap_next.en = 1'b1;
      cap_next.target = TO_TABLE;
      cap_next.slot = table_window;
    end
    wr_en = fill ? fill_wr : stage_wr;
    wr_addr = fill ? fill_addr : stage_addr;
    wr_be = fill ? fill_be : stage_be;
    wr_data = fill ? fill_data : stage_data;
  end
  spm spm_i (.clk, .rd_en, .rd_addr, .rd_data, .wr_en, .wr_addr, .wr_be, .wr_data);

  // ---- steps ----
  logic go, gate, step, line_end, results_room, soft_hold;
  line_t head;
  logic [WB:0] at;
  logic signed [P-1:0][IC-1:0][8:0] x;
  logic signed [OC-1:0][IC-1:0][8:0] w;
  logic signed [P-1:0][OC-1:0][8:0] dx;
  logic [P-1:0] taps_in;
  logic [EW-1:0][7:0] a, b;
  assign gate = elapsed + 32'(window ? DRAIN_WINDOW : fill ? DRAIN_FILL : DRAIN_STREAM) >= 32'(start_cycles);
  assign go = running && gate && (!window || results_room) && !soft_hold;
  lines lines_i (.clk, .rst(rst || start), .go, .conv, .window, .pool, .depth_mult(op == OP_DWCONV ? dw_i.depth_mult : 16'd1),
      .a_moves, .b_moves, .flip, .x_zp, .w_zp, .push(w_push || s_push), .pushed(window ? w_line : s_line), .capture(cap),
      .data(rd_data), .room(line_room), .empty(lines_empty), .step, .head, .at, .line_end, .x, .w, .dx, .tap_inside(taps_in), .a, .b, .phases_done);

  logic sum_en, sum_end;
  line_t sum_line;
  logic [WB:0] sum_at;
  logic [P-1:0] sum_taps_in;
  logic signed [P-1:0][OC-1:0][31:0] sum;
  mac_array mac_array_i (.clk, .en(step && window), .conv, .x, .w, .dx, .sum);
  always_ff @(posedge clk) begin
    sum_en <= step && window && !rst;
    if (step) {sum_line, sum_at, sum_end, sum_taps_in} <= {head, at, line_end, taps_in};
    cap <= cap_next;
    params_arrived <= w_params_last && window && !table_reading && !rst;
    if (rst) cap.en <= 1'b0;
    wop_now <= wop;
  end

  logic r_pop, r_ready, r_outer_end;
  logic [P-1:0][OC-1:0][31:0] r_value;
  logic [P-1:0][31:0] r_count, r_held;
  logic [P-1:0] r_valid;
  addr_t [P-1:0] r_out;
  logic [15:0] r_lanes;
  logic [5:0] r_prm;
  accumulators accumulators_i (.clk, .rst(rst || start), .en(sum_en), .conv, .maximum, .line(sum_line), .at(sum_at), .line_end(sum_end),
      .tap_inside(sum_taps_in), .sum, .room(results_room), .pop(r_pop), .ready(r_ready), .value(r_value), .count(r_count),
      .valid(r_valid), .out(r_out), .held(r_held), .lanes(r_lanes), .prm(r_prm), .outer_end(r_outer_end));

  logic [OC-1:0][31:0] bias, mult, shift;
  params params_i (.clk, .capture(cap), .data(rd_data), .index(r_prm), .bias, .mult, .shift);
  logic d_beat_en, e_beat_en, s_beat_en, e_busy, s_busy, o_busy;
  beat_t d_beat, e_beat, s_beat;
  drain drain_i (.clk, .rst(rst || start), .stage, .ready(r_ready), .pop(r_pop), .value(r_value), .count(r_count), .valid(r_valid),
      .out(r_out), .held(r_held), .lanes(r_lanes), .outer_end(r_outer_end), .bias, .mult, .shift, .params_arrived, .beat_en(d_beat_en),
      .beat(d_beat), .outers_drained);
  eltwise eltwise_i (.clk, .rst, .opcode(op), .instr(ins), .step(step && element), .line(head), .at, .a, .b, .busy(e_busy),
      .beat_en(e_beat_en), .beat(e_beat));
  softmax softmax_i (.clk, .rst(rst || start), .instr(ins), .capture(cap), .data(rd_data), .step(step && exps), .line(head), .at, .line_end,
      .x(a), .hold_back(soft_hold), .busy(s_busy), .beat_en(s_beat_en), .beat(s_beat));
  output_stage output_stage_i (.clk, .rst, .stage, .capture(cap), .data(rd_data), .table_off(table_addr[WB-1:0]),
      .beat_en(d_beat_en || e_beat_en || s_beat_en), .beat(window ? d_beat : element ? e_beat : s_beat), .busy(o_busy),
      .wr_en(stage_wr), .wr_addr(stage_addr), .wr_be(stage_be), .wr_data(stage_data));

  // ---- FILL: a window a cycle, from word to word ----
  logic [31:0] filled, fill_left;
  always_comb begin
    fill_left = 32'(fill_i.count) - filled;
    fill_addr = addr_t'(32'(fill_i.addr) + filled);
    fill_wr = running && fill && gate && fill_left != 0;
    fill_data = {WIN{fill_i.value}};
    fill_be = '0;
    for (int i = 0; i < WIN; ++i) begin
      logic [WB-1:0] k;
      k = fill_addr[WB-1:0] + WB'(i);
      if (i < WIN - int'(fill_addr[2:0]) && i < int'(fill_left)) fill_be[k[WB-1:3]][k[2:0]] = 1'b1;
    end
  end

  // ---- from start to done ----
  logic quiet, lines_empty;
  assign quiet = fetch_started && (window ? w_done : s_done) && lines_empty && !step && !sum_en && !r_ready && !d_beat_en &&
                 !e_busy && !s_busy && !o_busy;
  always_ff @(posedge clk) begin
    done <= 1'b0;
    elapsed <= elapsed + 1;
    begun <= 1'b0;
    if (running) begun <= 1'b1;
    if (fill_wr) filled <= filled + 32'(WIN) - 32'(fill_addr[2:0]) < 32'(fill_i.count) ? filled + 32'(WIN) - 32'(fill_addr[2:0])
                                                                                     : 32'(fill_i.count);
    if (table_reading) table_window <= table_window + 8'd1;
    if (fetch_start) fetch_started <= 1'b1;
    if (running && (fill ? fill_left == 0 : quiet)) begin
      running <= 1'b0;
      done <= 1'b1;
    end
    if (start) begin
      op <= opcode;
      ins <= instr;
      elapsed <= '0;
      running <= 1'b1;
      begun <= 1'b0;
      fetch_started <= 1'b0;
      table_window <= '0;
      filled <= '0;
    end
    if (rst) begin
      running <= 1'b0;
      begun <= 1'b0;
    end
  end
endmodule
