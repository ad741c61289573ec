// The common form of CONV, DWCONV and POOL, with the products that the address generator adds up. A division or a
// product below is by fields of the instruction and done once: a netlist would share one serial divider and multiplier, for
// which the time before the first step (START_CYCLES) is there.
module window_op
  import npu_pkg::*;
(
    input logic [7:0] opcode,
    input logic [INSTR_BITS-1:0] instr,
    output window_op_t op
);
  conv_t c;
  dwconv_t d;
  pool_t q;
  assign c = instr[CONV_BITS-1:0];
  assign d = instr[DWCONV_BITS-1:0];
  assign q = instr[POOL_BITS-1:0];

  function automatic int ceil_div(input int a, b);
    return (a + b - 1) / b;
  endfunction

  int taps_c, tap_limit;
  always_comb begin
    op = '0;
    op.conv = opcode == OP_CONV;
    op.pool = opcode == OP_POOL;
    op.group = op.pool ? 1 : P;
    op.mult = 1;
    `define WINDOW_FIELDS(o, channels)                                                                          \
      op.ifm_h = int'(o.ifm_h);                                                                                 \
      op.ifm_w = int'(o.ifm_w);                                                                                 \
      op.ofm_h = int'(o.ofm_h);                                                                                 \
      op.ofm_w = int'(o.ofm_w);                                                                                 \
      op.ofm_c = int'(o.ofm_c);                                                                                 \
      op.ifm_c = int'(channels);                                                                                \
      op.k_h = int'(o.k_h);                                                                                     \
      op.k_w = int'(o.k_w);                                                                                     \
      op.stride_h = int'(o.stride_h);                                                                           \
      op.stride_w = int'(o.stride_w);                                                                           \
      op.dil_h = int'(o.dil_h);                                                                                 \
      op.dil_w = int'(o.dil_w);                                                                                 \
      op.pad_top = 32'(signed'(o.pad_top));                                                                     \
      op.pad_left = 32'(signed'(o.pad_left));                                                                   \
      op.px = int'(o.ifm_px_stride);                                                                            \
      op.row = int'(o.ifm_row_stride);                                                                          \
      op.origin = int'(o.ifm_addr) - op.pad_top * int'(o.ifm_row_stride) - op.pad_left * int'(o.ifm_px_stride); \
      op.ofm_addr = int'(o.ofm_addr);                                                                           \
      op.ofm_px = int'(o.ofm_px_stride);                                                                        \
      op.ofm_row = int'(o.ofm_row_stride);
    if (op.conv) begin
      `WINDOW_FIELDS(c, c.ifm_c)
      op.weights = int'(c.w_addr);
      op.w_step = int'(c.w_oc_stride);
      op.params = int'(c.prm_addr);
      op.need_params = !(c.acc_keep && c.acc_hold);
    end else if (op.pool) begin
      `WINDOW_FIELDS(q, q.ofm_c)
    end else begin
      `WINDOW_FIELDS(d, d.ifm_c)
      op.weights = int'(d.w_addr);
      op.w_step = int'(d.w_tap_stride);
      op.params = int'(d.prm_addr);
      op.need_params = 1'b1;
      op.mult = int'(d.depth_mult);
    end
    `undef WINDOW_FIELDS
    op.step_x = op.stride_w * op.px;
    op.step_y = op.stride_h * op.row;
    op.tap_x = op.dil_w * op.px;
    op.tap_y = op.dil_h * op.row;
    op.blocks = ceil_div(op.ofm_c, OC);

    // Segments: what is contiguous of a window. A convolution over dense pixels takes kernel rows, everything else taps.
    op.dense = op.conv && op.dil_w == 1 && op.px == op.ifm_c;
    taps_c = op.dense ? op.k_w * op.ifm_c : op.ifm_c;
    op.segments = op.dense ? op.k_h : op.k_h * op.k_w;
    op.row_bytes = op.ifm_w * op.ifm_c;
    op.step_bytes = op.stride_w * op.ifm_c;
    op.left_bytes = op.pad_left * op.ifm_c;

    // Blocks of the kernel: as many segments as the weight windows hold, as equal as can be; or parts of a segment.
    op.seg_bytes = taps_c;
    op.part_bytes = taps_c;
    op.halves = 1'b1;
    op.passes = 1;
    op.pass_blocks = op.blocks;
    tap_limit = 1;
    if (op.conv) begin
      if (taps_c > CONV_USE) op.part_bytes = ceil_div(ceil_div(taps_c, IC), ceil_div(ceil_div(taps_c, IC), CONV_USE / IC)) * IC;
      else tap_limit = CONV_USE / taps_c;
    end else begin
      op.passes = ceil_div(op.blocks, op.mult == 1 ? CH_BLOCKS : CH_BLOCKS - 1);
      op.pass_blocks = ceil_div(op.blocks, op.passes);
      op.halves = op.segments > WLINES && !op.pool;
      tap_limit = op.pool ? op.segments : op.halves ? WLINES / 2 : WLINES;
    end
    op.block_segments = ceil_div(op.segments, ceil_div(op.segments, tap_limit));
    // Partial sums exist for so many groups.
    op.chunk = op.conv ? PARTS : op.pool || op.block_segments == op.segments ? 32'h7FFF_FFFF : PARTS / op.pass_blocks;
  end
endmodule
