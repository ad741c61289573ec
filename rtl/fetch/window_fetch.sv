// Address generator of CONV, DWCONV and POOL: asks the scratchpad for one window a cycle, in the order in which the
// datapath needs them, and runs ahead of it as far as the buffers let it. For each
//   block of output channels (CONV) or pass over up to CH_BLOCKS of them,
//     chunk of pixel groups whose partial sums there is room for,
//       block of the kernel:                                        <- a phase
// come the phase's weights and then, group by group, a line for each segment of the kernel's block; after the first
// line the channels' parameters, where they are not there yet. Windows of lanes or pixels that lie close together are one.
module window_fetch
  import npu_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic start,
    input window_op_t op,
    input logic line_room,
    input logic [31:0] phases_done,
    input logic [31:0] outers_drained,
    output logic rd_en,
    output addr_t rd_addr,
    output capture_t capture,
    output logic line_push,
    output line_t line,
    output logic params_last,  // this capture is the last of a block's (pass's) parameters
    output logic done
);
  typedef struct packed {
    logic valid;
    int oy, ox, iy, ix;        // output pixel; input row and column of its first tap
    int bytes;                 // of ix, counted in dense bytes
    int in, in_row, out, out_row;
    int index;
  } pixel_t;
  typedef struct packed {
    int n, ky, kx;             // segment
    int off, off_row;          // its first byte from the window's
    int iy, ix;
    int part;                  // bytes into it
    int kernel;                // the same counted in the kernel
  } segment_t;
  typedef enum logic [2:0] {IDLE, PHASE, WEIGHTS, PARAMS, LINES_, DONE} state_e;

  state_e state, after_params;
  int outer, group, phase, seg, tap, prm, channel, in_channel, prm_channel, prm_outer;
  logic params_wait;  // this phase has parameters to read, after its first line
  logic [15:0] in_rem;
  pixel_t [P-1:0] px, px_chunk, px_next, px_first;
  segment_t at, at_kernel, at_next;
  logic [OC-1:0] lanes_left;
  logic [NL-1:0] pixels_left;
  logic line_begun;

  // ---- pixels ----
  function automatic pixel_t first_pixel(input window_op_t o);
    pixel_t p;
    p = '0;
    p.valid = 1'b1;
    p.iy = -o.pad_top;
    p.ix = -o.pad_left;
    p.bytes = -o.left_bytes;
    p.in = o.origin;
    p.in_row = o.origin;
    p.out = o.ofm_addr;
    p.out_row = o.ofm_addr;
    return p;
  endfunction
  function automatic pixel_t next_pixel(input pixel_t p, input window_op_t o);
    pixel_t n;
    n = p;
    n.index = p.index + 1;
    if (p.ox + 1 < o.ofm_w) begin
      n.ox = p.ox + 1;
      n.ix = p.ix + o.stride_w;
      n.bytes = p.bytes + o.step_bytes;
      n.in = p.in + o.step_x;
      n.out = p.out + o.ofm_px;
    end else begin
      n.ox = 0;
      n.oy = p.oy + 1;
      n.ix = -o.pad_left;
      n.bytes = -o.left_bytes;
      n.iy = p.iy + o.stride_h;
      n.in_row = p.in_row + o.step_y;
      n.in = n.in_row;
      n.out_row = p.out_row + o.ofm_row;
      n.out = n.out_row;
      n.valid = p.valid && n.oy < o.ofm_h;
    end
    return n;
  endfunction
  always_comb begin
    pixel_t p;
    p = first_pixel(op);
    for (int i = 0; i < P; ++i) begin
      px_first[i] = p;
      px_first[i].valid = p.valid && i < op.group;
      p = next_pixel(p, op);
    end
    p = next_pixel(px[op.group-1], op);
    for (int i = 0; i < P; ++i) begin
      px_next[i] = p;
      px_next[i].valid = p.valid && i < op.group;
      p = next_pixel(p, op);
    end
  end

  // ---- segments and blocks of the kernel ----
  int line_bytes, block_bytes, block_last;
  logic last_segment, last_block, first_block;
  always_comb begin
    line_bytes = op.seg_bytes - at.part < op.part_bytes ? op.seg_bytes - at.part : op.part_bytes;
    block_last = op.segments - at_kernel.n < op.block_segments ? op.segments - at_kernel.n : op.block_segments;
    block_bytes = op.part_bytes < op.seg_bytes ? line_bytes : block_last * op.seg_bytes;
    last_segment = seg + 1 == block_last;
    first_block = at_kernel.n == 0 && at_kernel.part == 0;
    last_block = at_kernel.n + block_last == op.segments && at_kernel.part + op.part_bytes >= op.seg_bytes;
    at_next = at;
    at_next.kernel = at.kernel + line_bytes;
    if (at.part + line_bytes < op.seg_bytes) begin
      at_next.part = at.part + line_bytes;
    end else begin
      at_next.part = 0;
      at_next.n = at.n + 1;
      if (!op.dense && at.kx + 1 < op.k_w) begin
        at_next.kx = at.kx + 1;
        at_next.ix = at.ix + op.dil_w;
        at_next.off = at.off + op.tap_x;
      end else begin
        at_next.kx = 0;
        at_next.ix = 0;
        at_next.ky = at.ky + 1;
        at_next.iy = at.iy + op.dil_h;
        at_next.off_row = at.off_row + op.tap_y;
        at_next.off = at_next.off_row;
      end
    end
  end

  // ---- a line's windows ----
  int pass_channels, in_channels, channels_left;
  logic [NL-1:0] wanted, taken;
  addr_t [NL-1:0] pixel_addr;
  addr_t line_addr;
  int window_bytes;
  always_comb begin
    channels_left = op.ofm_c - channel;
    pass_channels = channels_left < op.pass_blocks * OC ? channels_left : op.pass_blocks * OC;
    in_channels = op.conv ? 0 : op.mult == 1 ? pass_channels : (int'(in_rem) + pass_channels - 1) / op.mult + 1;
    window_bytes = op.conv ? line_bytes : in_channels;
    line = '0;
    line.len = (WB + 1)'(op.conv ? line_bytes : pass_channels);
    line.steps = (WB + 1)'(op.conv ? (line_bytes + IC - 1) / IC : (pass_channels + OC - 1) / OC);
    line.wbase = WB'(at.kernel - at_kernel.kernel);
    line.wline = op.conv ? (phase[0] ? 8'(OC) : 8'd0) : 8'(seg) + (op.halves && phase[0] ? 8'(OC) : 8'd0);
    line.rem = in_rem;
    line.first = seg == 0;
    line.last = last_segment;
    line.zero = first_block;
    line.fin = last_block;
    line.phase_end = last_segment && !px_next[0].valid || last_segment && group + 1 == op.chunk;
    line.outer_end = line.phase_end && last_block && !px_next[0].valid;
    line.part = op.conv ? 16'(group) : op.chunk == 32'h7FFF_FFFF ? 16'd0 : 16'(group * op.pass_blocks);
    line.prm = op.conv ? 6'(outer % PRM_AHEAD) : 6'd0;
    line.lanes = channels_left < OC ? 16'(channels_left) : 16'(OC);
    wanted = '0;
    for (int p = 0; p < P; ++p) begin
      int iy, from, width;
      iy = px[p].iy + at.iy;
      from = op.dense ? px[p].bytes + at.part : px[p].ix + at.ix;
      width = op.dense ? op.row_bytes : op.ifm_w;
      pixel_addr[p] = addr_t'(px[p].in + at.off + at.part + (op.conv ? 0 : in_channel));
      line.off[p] = pixel_addr[p][WB-1:0];
      line.valid[p] = px[p].valid;
      line.out[p] = addr_t'(px[p].out + channel);
      line.held[p] = px[p].index * op.ofm_c + channel;
      if (px[p].valid && iy >= 0 && iy < op.ifm_h) begin
        if (op.dense) begin
          line.lo[p] = from >= 0 ? '0 : -from >= WIN ? (WB + 1)'(WIN) : (WB + 1)'(-from);
          line.hi[p] = width <= from ? '0 : width - from >= WIN ? (WB + 1)'(WIN) : (WB + 1)'(width - from);
          wanted[p] = line.lo[p] < line.hi[p];
        end else if (from >= 0 && from < width) begin
          line.hi[p] = (WB + 1)'(WIN);
          wanted[p] = 1'b1;
        end
      end
    end
    for (int p = P; p < NL; ++p) pixel_addr[p] = '0;
    if (line_begun) wanted = wanted & pixels_left;
    line_addr = '0;
    for (int p = P - 1; p >= 0; --p) if (wanted[p]) line_addr = pixel_addr[p];
    taken = '0;
    for (int p = 0; p < P; ++p)
      taken[p] = wanted[p] && int'(addr_t'(pixel_addr[p] - {line_addr[AW-1:3], 3'd0})) + window_bytes <= WIN;
  end

  // ---- weights ----
  logic [OC-1:0] lanes_taken;
  addr_t [OC-1:0] lane_addr;
  addr_t weight_addr;
  always_comb begin
    for (int l = 0; l < OC; ++l)
      lane_addr[l] = addr_t'(op.weights + (channel + l) * op.w_step + at_kernel.kernel);
    weight_addr = '0;
    for (int l = OC - 1; l >= 0; --l) if (lanes_left[l]) weight_addr = lane_addr[l];
    for (int l = 0; l < OC; ++l)
      lanes_taken[l] =
          lanes_left[l] && int'(addr_t'(lane_addr[l] - {weight_addr[AW-1:3], 3'd0})) + block_bytes <= WIN;
  end

  // ---- what is asked for in this cycle ----
  addr_t tap_addr, prm_addr;
  assign tap_addr = addr_t'(op.weights + (at_kernel.n + tap) * op.w_step + channel);
  assign prm_addr = addr_t'(op.params + 12 * (prm_channel + OC * prm));
  logic line_done;
  assign line_done = state == LINES_ && line_room && (wanted & ~taken) == '0;
  assign line_push = line_done;
  assign done = state == DONE;
  always_comb begin
    capture = '0;
    rd_en = 1'b0;
    rd_addr = '0;
    params_last = 1'b0;
    case (state)
      WEIGHTS: begin
        rd_en = 1'b1;
        rd_addr = op.conv ? weight_addr : tap_addr;
        capture.en = 1'b1;
        capture.target = TO_WEIGHTS;
        capture.mask[OC-1:0] = op.conv ? lanes_taken : OC'(1);
        capture.slot = (op.halves && phase[0] ? 8'(OC) : 8'd0) + (op.conv ? 8'd0 : 8'(tap));
        for (int l = 0; l < OC; ++l) capture.off[l] = op.conv ? lane_addr[l][WB-1:0] : tap_addr[WB-1:0];
      end
      PARAMS: begin
        rd_en = 1'b1;
        rd_addr = prm_addr;
        capture.en = 1'b1;
        capture.target = TO_PARAMS;
        capture.slot = op.conv ? 8'(prm_outer % PRM_AHEAD) : 8'(prm);
        capture.mask[PRM_BLOCKS-1:0] = op.conv ? PRM_BLOCKS'(1) : '1;
        params_last = last_params;
        capture.base = prm_addr[WB-1:0];
      end
      LINES_: begin
        rd_en = line_room && wanted != '0;
        rd_addr = line_addr;
        capture.en = rd_en;
        capture.target = TO_LINE;
        capture.mask = (OC + NL)'(taken);
      end
      default: ;
    endcase
  end

  // Buffers that a phase fills must be free: of weights when the phase before the last one that used them is over, of
  // parameters when their last results have left.
  logic weights_free, params_free, params_due, last_params;
  assign last_params = op.conv || prm + PRM_BLOCKS >= op.pass_blocks;
  assign weights_free = op.pool || int'(phases_done) + (op.halves ? 1 : 0) >= phase;
  assign params_due = op.need_params && first_block && !px_is_later;
  assign params_free = int'(outers_drained) + (op.conv ? PRM_AHEAD - 1 : 0) >= outer;
  logic px_is_later;
  assign px_is_later = px_chunk[0].index != 0;

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= IDLE;
    end else begin
      case (state)
        IDLE, DONE:
        if (start) begin
          state <= PHASE;
          outer <= 0;
          channel <= 0;
          in_channel <= 0;
          in_rem <= '0;
          phase <= 0;
          px <= px_first;
          px_chunk <= px_first;
          at <= '0;
          at_kernel <= '0;
          group <= 0;
          seg <= 0;
          line_begun <= 1'b0;
        end
        PHASE: begin
          lanes_left <= channels_left < OC ? OC'((1 << channels_left) - 1) : '1;
          tap <= 0;
          prm <= 0;
          prm_channel <= channel;
          prm_outer <= outer;
          params_wait <= params_due;
          if (weights_free && (!params_due || params_free)) state <= op.pool ? LINES_ : WEIGHTS;
        end
        WEIGHTS: begin
          lanes_left <= lanes_left & ~lanes_taken;
          tap <= tap + 1;
          if (op.conv ? (lanes_left & ~lanes_taken) == '0 : tap + 1 == block_last) state <= LINES_;
        end
        PARAMS: begin
          prm <= prm + PRM_BLOCKS;
          params_wait <= 1'b0;
          if (last_params) state <= after_params;
        end
        LINES_:
        if (line_done) begin
          line_begun <= 1'b0;
          seg <= seg + 1;
          at <= at_next;
          if (last_segment) begin  // of this group
            seg <= 0;
            at <= at_kernel;
            group <= group + 1;
            px <= px_next;
          end
          if (line.phase_end) begin
            state <= PHASE;
            phase <= phase + 1;
            group <= 0;
            if (!last_block) begin
              px <= px_chunk;
              at <= at_next;
              at_kernel <= at_next;
            end else begin
              at <= '0;
              at_kernel <= '0;
              px_chunk <= px_next;
              if (line.outer_end) begin
                px <= px_first;
                px_chunk <= px_first;
                outer <= outer + 1;
                channel <= channel + (op.conv ? OC : op.pass_blocks * OC);
                in_channel <= op.mult == 1 ? in_channel + op.pass_blocks * OC : (channel + op.pass_blocks * OC) / op.mult;
                in_rem <= op.mult == 1 ? 16'd0 : 16'((channel + op.pass_blocks * OC) % op.mult);
                if (outer + 1 == (op.conv ? op.blocks : op.passes)) state <= DONE;
              end
            end
          end
          if (params_wait) begin
            state <= PARAMS;
            after_params <= !line.phase_end ? LINES_ : line.outer_end && outer + 1 == (op.conv ? op.blocks : op.passes) ? DONE : PHASE;
          end
        end else if (line_room) begin
          line_begun <= 1'b1;
          pixels_left <= wanted & ~taken;
        end
        default: state <= IDLE;
      endcase
    end
  end
endmodule
