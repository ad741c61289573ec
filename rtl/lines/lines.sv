// The line buffer, the weight windows and the step engine: while later lines are being filled, the oldest is taken apart,
// one step a cycle. A step's operands leave through registers: for each pixel and lane an input less its zero point
// (0 for padding), a weight less its own.
//   CONV     pixel p, lane i: input i of the step, the same for all output channels; weight (channel, i)
//   DWCONV, POOL: pixel p, lane l: input of output channel l; weight l
//   others   bytes of the first window's and the second's elements, to the element-wise and softmax units
module lines
  import npu_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic go,                  // steps may happen
    input logic conv, window,        // CONV; CONV, DWCONV or POOL
    input logic pool,
    input logic [15:0] depth_mult,
    input logic a_moves, b_moves,
    input logic [7:0] flip,
    input logic signed [8:0] x_zp, w_zp,
    // From the address generators, and from the scratchpad a cycle later.
    input logic push,
    input line_t pushed,
    input capture_t capture,         // of the cycle before, with its window
    input window_t data,
    output logic room, empty,
    // One step.
    output logic step,               // the registers below hold one
    output line_t head,
    output logic [WB:0] at,          // which step of the line
    output logic line_end,
    output logic signed [P-1:0][IC-1:0][8:0] x,
    output logic signed [OC-1:0][IC-1:0][8:0] w,
    output logic signed [P-1:0][OC-1:0][8:0] dx,
    output logic [P-1:0] tap_inside,
    output logic [EW-1:0][7:0] a, b,
    output logic [31:0] phases_done
);
  localparam int LB = $clog2(LINES);
  window_t line_data[LINES][NL];
  line_t meta[LINES];
  window_t weights[WLINES];
  logic [WB-1:0] weight_off[WLINES];
  logic [LB-1:0] filling, oldest;
  logic [LB:0] used, ready;
  logic pushed_before;
  logic [LB-1:0] capture_slot;

  assign empty = used == 0;
  assign room = used != (LB + 1)'(LINES);

  // ---- filling ----
  logic step_now, pop;
  always_ff @(posedge clk) begin
    capture_slot <= filling;
    pushed_before <= push && !rst;
    if (push) begin
      meta[filling] <= pushed;
      filling <= filling + 1'b1;
    end
    used <= used + (LB + 1)'(push) - (LB + 1)'(pop);
    ready <= ready + (LB + 1)'(pushed_before) - (LB + 1)'(pop);
    if (rst) begin
      filling <= '0;
      used <= '0;
      ready <= '0;
    end
    if (capture.en && capture.target == TO_LINE)
      for (int p = 0; p < NL; ++p) if (capture.mask[p]) line_data[capture_slot][p] <= data;
    if (capture.en && capture.target == TO_WEIGHTS)
      for (int l = 0; l < OC; ++l)
        if (capture.mask[l]) begin
          weights[int'(capture.slot)+l] <= data;
          weight_off[int'(capture.slot)+l] <= capture.off[l];
        end
  end

  // ---- stepping ----
  line_t now;
  logic [WB:0] t;
  assign now = meta[oldest];
  assign step_now = go && ready != 0;
  assign pop = step_now && t + 1'b1 == now.steps;
  logic [15:0] ch, ch_rem;  // depthwise: first input channel of the step, and output channels into it

  always_ff @(posedge clk) begin
    step <= step_now && !rst;
    if (step_now) begin
      head <= now;
      at <= t;
      line_end <= pop;
      t <= pop ? '0 : t + 1'b1;
      if (pop) oldest <= oldest + 1'b1;
      if (pop && now.phase_end && window) phases_done <= phases_done + 1;
    end
    if (rst) begin
      t <= '0;
      oldest <= '0;
      phases_done <= '0;
    end
  end

  // Depthwise: the input channel of each lane. depth_mult output channels share one.
  logic [OC-1:0][15:0] lane_ch;
  logic [15:0] next_ch, next_rem;
  always_comb begin
    next_ch = t == 0 ? 16'd0 : ch;
    next_rem = t == 0 ? now.rem : ch_rem;
    for (int l = 0; l < OC; ++l) begin
      lane_ch[l] = next_ch;
      next_rem = next_rem + 16'd1;
      if (next_rem == depth_mult) begin
        next_rem = '0;
        next_ch = next_ch + 16'd1;
      end
    end
  end

  logic [7:0] line_w;  // first weight window
  logic [WB-1:0] elem;
  assign line_w = now.wline;
  assign elem = WB'(int'(t) * EW);
  always_ff @(posedge clk) begin
    if (step_now && conv) begin
      for (int i = 0; i < IC; ++i) begin
        int k;
        logic [WB-1:0] j;
        k = int'(t) * IC + i;
        for (int p = 0; p < P; ++p) begin
          j = now.off[p] + WB'(k);
          x[p][i] <= k < int'(now.len) && k >= int'(now.lo[p]) && k < int'(now.hi[p]) && now.valid[p]
              ? 9'(signed'(line_data[oldest][p][{j, 3'd0}+:8] ^ flip)) - x_zp : '0;
        end
        for (int l = 0; l < OC; ++l) begin
          j = weight_off[int'(line_w)+l] + now.wbase + WB'(k);
          w[l][i] <= 9'(signed'(weights[int'(line_w)+l][{j, 3'd0}+:8])) - w_zp;
        end
      end
    end
    if (step_now && window && !conv) begin
      logic [WB-1:0] j;
      ch <= next_ch;
      ch_rem <= next_rem;
      for (int p = 0; p < P; ++p) begin
        tap_inside[p] <= now.hi[p] != 0;
        for (int l = 0; l < OC; ++l) begin
          j = now.off[p] + WB'(lane_ch[l]);
          dx[p][l] <= now.hi[p] != 0 ? 9'(signed'(line_data[oldest][p][{j, 3'd0}+:8] ^ flip)) - x_zp : '0;
        end
      end
      for (int l = 0; l < OC; ++l) begin
        j = weight_off[int'(line_w)] + WB'(int'(t) * OC + l);
        w[l][0] <= pool ? 9'sd1 : 9'(signed'(weights[int'(line_w)][{j, 3'd0}+:8])) - w_zp;
      end
    end
    if (step_now && !window) begin
      logic [WB-1:0] j;
      for (int i = 0; i < EW; ++i) begin
        j = now.off[0] + (a_moves ? elem + WB'(i) : '0);
        a[i] <= line_data[oldest][0][{j, 3'd0}+:8] ^ flip;
        j = now.off[1] + (b_moves ? elem + WB'(i) : '0);
        b[i] <= line_data[oldest][1][{j, 3'd0}+:8] ^ flip;
      end
    end
  end
endmodule
