// Where products become sums. A convolution's group stays in the registers for the steps of a kernel block and in the
// partial sums from one block to the next; DWCONV and POOL go to the partial sums at every step. Finished groups
// wait in a queue for the output stage.
module accumulators
  import npu_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic en,                  // a step's products
    input logic conv, maximum,
    input line_t line,
    input logic [WB:0] at,
    input logic line_end,
    input logic [P-1:0] tap_inside,
    input logic signed [P-1:0][OC-1:0][31:0] sum,
    output logic room,               // for what the pipeline may still bring
    // Oldest finished group.
    input logic pop,
    output logic ready,
    output logic [P-1:0][OC-1:0][31:0] value,
    output logic [P-1:0][31:0] count,
    output logic [P-1:0] valid,
    output addr_t [P-1:0] out,
    output logic [P-1:0][31:0] held,
    output logic [15:0] lanes,
    output logic [5:0] prm,
    output logic outer_end
);
  typedef struct packed {
    logic [P-1:0][OC-1:0][31:0] value;
    logic [P-1:0][31:0] count;
    logic [P-1:0] valid;
    logic [P-1:0][AW-1:0] out;
    logic [P-1:0][31:0] held;
    logic [15:0] lanes;
    logic [5:0] prm;
    logic outer_end;
  } result_t;
  localparam int QB = $clog2(RESULTS);

  logic [P-1:0][OC-1:0][31:0] partial[PARTS];
  logic [P-1:0][OC-1:0][31:0] acc, base, next;
  logic [P-1:0][31:0] counted, count_now;
  result_t queue[RESULTS];
  result_t made;
  logic [QB-1:0] head, tail;
  logic [QB:0] used;
  logic [15:0] part;
  logic first, last, push;

  always_comb begin
    part = conv ? line.part : line.part + 16'(at);
    first = conv ? line.first && at == 0 : 1'b1;
    last = conv ? line.last && line_end : 1'b1;
    push = en && last && line.fin && (conv || line.last);
    base = acc;
    if (first) begin
      if (line.zero && (conv || line.first)) base = maximum ? {P * OC{32'hFFFF_FF80}} : '0;
      else base = partial[int'(part)];
    end
    for (int p = 0; p < P; ++p) begin
      count_now[p] = (line.zero && line.first && at == 0 ? 32'd0 : counted[p]) + 32'(at == 0 && tap_inside[p]);
      for (int l = 0; l < OC; ++l)
        next[p][l] = !maximum ? base[p][l] + sum[p][l]
            : tap_inside[p] && $signed(sum[p][l]) > $signed(base[p][l]) ? sum[p][l] : base[p][l];
    end
    made.value = next;
    made.count = count_now;
    made.valid = line.valid[P-1:0];
    for (int p = 0; p < P; ++p) begin
      made.out[p] = line.out[p] + (conv ? '0 : addr_t'(int'(at) * OC));
      made.held[p] = line.held[p];
    end
    made.lanes = conv ? line.lanes : int'(line.len) - int'(at) * OC < OC ? 16'(int'(line.len) - int'(at) * OC) : 16'(OC);
    made.prm = conv ? line.prm : 6'(at);
    made.outer_end = line.outer_end && line_end;
  end

  always_ff @(posedge clk) begin
    if (en) begin
      acc <= next;
      counted <= count_now;
      if (last && !push) partial[int'(part)] <= next;
      if (push) begin
        queue[tail] <= made;
        tail <= tail + 1'b1;
      end
    end
    if (pop) head <= head + 1'b1;
    used <= used + (QB + 1)'(push) - (QB + 1)'(pop);
    if (rst) begin
      head <= '0;
      tail <= '0;
      used <= '0;
    end
  end
  // Two steps are on their way when a third is held back.
  assign room = used + 3 <= (QB + 1)'(RESULTS);
  assign ready = used != 0;
  assign value = queue[head].value;
  assign count = queue[head].count;
  assign valid = queue[head].valid;
  assign out = queue[head].out;
  assign held = queue[head].held;
  assign lanes = queue[head].lanes;
  assign prm = queue[head].prm;
  assign outer_end = queue[head].outer_end;
endmodule
