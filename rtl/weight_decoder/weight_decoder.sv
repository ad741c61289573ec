// LOADW's decoder. Tokens go round CODE_LANES lanes, each with a bit buffer; before its token a lane with fewer than
// MAX_CODE_BITS bits takes the stream's next 16-bit word. A token is a byte, a run of the fill byte or a
// repetition of the last byte. OUT bytes a cycle leave, each with its address in the scratchpad (records of `planes`
// bytes come one byte position after the other).
//
// All lanes look their next token up at once: up to OUT tokens follow each other on different lanes. The loop below is the
// selection among them, lane by lane in order.
module weight_decoder
  import weight_codec_pkg::*;
#(
    parameter int OUT = 8,
    parameter int AW = 26
) (
    input logic clk,
    input logic rst,
    input logic start,
    input logic fixed_code,
    input logic [8*CODE_TABLE_BYTES-1:0] code_bytes,  // the table, as it lies in memory
    input logic [25:0] bytes,
    input logic [3:0] planes,
    input logic [AW-1:0] spm_addr,
    input logic [23:0] stream_bytes,
    // The stream, OUT words (16 bytes) at a time; after the end what is there does not matter.
    input logic [16*OUT-1:0] in_data,
    output logic in_ready,
    input logic in_valid,
    output logic [OUT-1:0] out_en,
    output logic [OUT-1:0][7:0] out_data,
    output logic [OUT-1:0][AW-1:0] out_addr,
    output logic done,
    output logic [2:0] fault                          // arch::CodeFault
);
  typedef enum logic [2:0] {NONE, BAD_TABLE, BAD_CODE, TRUNCATED, OVERRUN, TRAILING} fault_e;
  typedef struct packed {
    logic [27:0] buffer;   // the next bit is the highest of `bits`
    logic [4:0] bits;
    logic [4:0] missing;   // of these, how many at the end are not in the stream
  } lane_t;
  typedef struct packed {
    logic [2:0] turn;
    logic [25:0] left;     // bytes still to come
    logic [8:0] run;       // bytes of a run still to come
    logic [7:0] last;      // their value
    logic any;             // a byte has been written
    logic [24:0] read;     // stream bytes taken, by words
    logic [25:0] record;   // out of address: record and byte position
    logic [AW-1:0] addr, plane_addr;
    fault_e fault;
  } state_t;

  logic [4*CODE_SYMBOLS-1:0] lengths;
  logic [7:0] fill;
  assign lengths = fixed_code ? FIXED_LENGTHS : code_bytes[4*CODE_SYMBOLS-1:0];
  assign fill = fixed_code ? FIXED_FILL : code_bytes[8*CODE_TABLE_BYTES-1-:8];

  logic running, table_ready, table_bad;
  logic [CODE_LANES-1:0][MAX_CODE_BITS-1:0] next;
  logic [CODE_LANES-1:0][3:0] bits;
  logic [CODE_LANES-1:0][8:0] symbol;
  code_table code_table_i (.clk, .rst, .start, .lengths, .ready(table_ready), .bad(table_bad), .next, .bits, .symbol);

  // Three chunks of the stream, of OUT words each: a cycle takes OUT words at most, and the next chunk may arrive in any
  // cycle. With two, a cycle that begins with some but fewer than OUT words would wait for the chunk.
  localparam int WORDS = 3 * OUT;
  logic [16*WORDS-1:0] words;
  logic [5:0] held;        // words of them
  state_t s, n;
  lane_t lane[CODE_LANES];
  logic [5:0] used;
  logic [25:0] records;    // of a plane
  assign in_ready = running && held <= 6'(WORDS - OUT);

  // Refilled before any token of this cycle: a lane's turn comes once a cycle, and words go to lanes in order of turns.
  lane_t full[CODE_LANES];
  logic [CODE_LANES-1:0] refill, taken, truncated, literal, repeats;
  logic [CODE_LANES-1:0][8:0] length;
  always_comb begin
    logic [5:0] w;
    logic [2:0] l;
    logic [15:0] word;
    logic [24:0] at;
    {w, l, word, at} = '0;
    next = '0;
    full = lane;
    refill = '0;
    for (int i = 0; i < CODE_LANES; ++i) begin
      l = s.turn + 3'(i);
      if (lane[l].bits < 5'(MAX_CODE_BITS)) begin
        at = s.read + 25'(w) * 2;
        word = words[16*w+:16];
        word = {at < 25'(stream_bytes) ? word[7:0] : 8'd0, at + 1 < 25'(stream_bytes) ? word[15:8] : 8'd0};
        refill[l] = 1'b1;
        full[l].buffer = {lane[l].buffer[11:0], word};
        full[l].bits = lane[l].bits + 5'd16;
        full[l].missing = lane[l].missing + (at + 2 <= 25'(stream_bytes) ? 5'd0 : at < 25'(stream_bytes) ? 5'd8 : 5'd16);
        w = w + 6'd1;
      end
    end
    for (int i = 0; i < CODE_LANES; ++i)
      next[i] = MAX_CODE_BITS'(full[i].buffer >> (full[i].bits - 5'(MAX_CODE_BITS)));
  end
  // What each lane's token is.
  always_comb
    for (int i = 0; i < CODE_LANES; ++i) begin
      truncated[i] = full[i].bits - 5'(bits[i]) < full[i].missing;
      literal[i] = symbol[i] < 9'(LITERALS);
      repeats[i] = symbol[i] >= 9'(FIRST_REPEAT);
      length[i] = literal[i] ? 9'd1 : 9'(RUN_LENGTHS[16*(int'(symbol[i])%RUN_KINDS)+:16]);
    end

  // The bytes of this cycle.
  always_comb begin
    logic [2:0] l;
    n = s;
    taken = '0;
    l = '0;
    used = '0;
    out_en = '0;
    out_data = '0;
    out_addr = '0;
    if (running && table_ready && held >= 6'(OUT))
      for (int i = 0; i < OUT; ++i)
        if (n.left != 0 && n.fault == NONE) begin
          if (n.run == 0) begin
            l = n.turn;
            if (refill[l]) begin
              used = used + 6'd1;
              n.read = n.read + 25'd2;
            end
            taken[l] = 1'b1;
            n.turn = n.turn + 3'd1;
            if (bits[l] == 0) n.fault = BAD_CODE;
            else if (truncated[l]) n.fault = TRUNCATED;
            else if (26'(length[l]) > n.left || (repeats[l] && !n.any)) n.fault = OVERRUN;
            else begin
              n.run = length[l];
              if (literal[l]) n.last = symbol[l][7:0] ^ 8'h80;
              else if (!repeats[l]) n.last = fill;
            end
          end
          if (n.fault == NONE) begin
            out_en[i] = 1'b1;
            out_data[i] = n.last;
            out_addr[i] = n.addr;
            n.any = 1'b1;
            n.run = n.run - 9'd1;
            n.left = n.left - 26'd1;
            n.record = n.record + 26'd1;
            n.addr = n.addr + AW'(planes);
            if (n.record == records) begin
              n.record = '0;
              n.plane_addr = n.plane_addr + AW'(1);
              n.addr = n.plane_addr;
            end
          end
        end
    if (n.left == 0 && n.fault == NONE && n.read < 25'(stream_bytes)) n.fault = TRAILING;
  end

  assign fault = s.fault;
  always_ff @(posedge clk) begin
    done <= 1'b0;
    if (running && table_ready) begin
      logic [16*WORDS-1:0] rest;
      logic [5:0] kept;
      s <= n;
      for (int i = 0; i < CODE_LANES; ++i)
        if (taken[i]) begin
          lane[i] <= full[i];
          lane[i].bits <= full[i].bits - 5'(bits[i]);
        end
      rest = words >> (16 * int'(used));
      kept = held - used;
      if (in_ready && in_valid) begin
        rest = rest & ((16 * WORDS)'(1) << (16 * int'(kept))) - 1 | (16 * WORDS)'(in_data) << (16 * int'(kept));
        kept = kept + 6'(OUT);
      end
      words <= rest;
      held <= kept;
      if (table_bad) s.fault <= BAD_TABLE;
      if (table_bad || n.left == 0 || n.fault != NONE) begin
        running <= 1'b0;
        done <= 1'b1;
      end
    end else if (in_ready && in_valid) begin  // while the table is made
      words <= words | (16 * WORDS)'(in_data) << (16 * int'(held));
      held <= held + 6'(OUT);
    end
    if (start) begin
      running <= 1'b1;
      s <= '0;
      for (int i = 0; i < CODE_LANES; ++i) lane[i] <= '0;
      s.left <= bytes;
      s.addr <= spm_addr;
      s.plane_addr <= spm_addr;
      records <= bytes / 26'(planes);
      held <= '0;
      words <= '0;
    end
    if (rst) running <= 1'b0;
  end
endmodule
