// Makes a canonical prefix code out of its lengths: SYMBOLS_PER_CYCLE symbols a cycle are counted by their length, then as
// many a cycle are put in order of (length, symbol). A code of b bits is then found by comparing the next bits with the
// first code of every length.
module code_table
  import weight_codec_pkg::*;
#(
    parameter int SYMBOLS_PER_CYCLE = 48
) (
    input logic clk,
    input logic rst,
    input logic start,
    input logic [4*CODE_SYMBOLS-1:0] lengths,  // 0: the symbol does not occur
    output logic ready,
    output logic bad,                          // no prefix code: a length too large, or more codes than fit
    // The code of every lane's next MAX_CODE_BITS bits; no bits: no symbol has it.
    input logic [CODE_LANES-1:0][MAX_CODE_BITS-1:0] next,
    output logic [CODE_LANES-1:0][3:0] bits,
    output logic [CODE_LANES-1:0][8:0] symbol
);
  localparam int BEATS = CODE_SYMBOLS / SYMBOLS_PER_CYCLE;
  typedef enum logic [1:0] {IDLE, COUNT, ORDER, READY} state_e;
  state_e state;
  logic [3:0] beat;
  logic [8:0] count[1:MAX_CODE_BITS];
  logic [8:0] placed[1:MAX_CODE_BITS];       // of each length so far
  logic [8:0] ordered[CODE_SYMBOLS];
  logic too_long;

  // First code of each length, left-aligned, and the number of symbols of shorter lengths.
  logic [MAX_CODE_BITS:0] first[1:MAX_CODE_BITS+1];
  logic [8:0] shorter[1:MAX_CODE_BITS];
  always_comb begin
    logic [20:0] code;
    logic [8:0] n;
    code = '0;
    n = '0;
    for (int b = 1; b <= MAX_CODE_BITS; ++b) begin
      first[b] = code[MAX_CODE_BITS:0];
      shorter[b] = n;
      code = code + (21'(count[b]) << (MAX_CODE_BITS - b));
      n = n + count[b];
    end
    first[MAX_CODE_BITS+1] = code[MAX_CODE_BITS:0];
    bad = too_long || code > 21'(1 << MAX_CODE_BITS);
  end

  // A beat's symbols: counted, or given their places.
  logic [8:0] count_next[0:15];
  logic [8:0] placed_next[0:15];
  logic [SYMBOLS_PER_CYCLE-1:0][8:0] place;
  logic [SYMBOLS_PER_CYCLE-1:0][3:0] length;
  logic any_too_long;
  always_comb begin
    any_too_long = 1'b0;
    for (int b = 0; b < 16; ++b) begin
      count_next[b] = b >= 1 && b <= MAX_CODE_BITS ? count[b] : '0;
      placed_next[b] = b >= 1 && b <= MAX_CODE_BITS ? placed[b] : '0;
    end
    for (int i = 0; i < SYMBOLS_PER_CYCLE; ++i) begin
      length[i] = lengths[4*(int'(beat)*SYMBOLS_PER_CYCLE+i)+:4];
      place[i] = length[i] >= 1 && length[i] <= 4'(MAX_CODE_BITS) ? shorter[length[i]] + placed_next[length[i]] : '0;
      count_next[length[i]] = count_next[length[i]] + 9'd1;
      placed_next[length[i]] = placed_next[length[i]] + 9'd1;
      if (length[i] > 4'(MAX_CODE_BITS)) any_too_long = 1'b1;
    end
  end

  assign ready = state == READY;
  always_ff @(posedge clk) begin
    case (state)
      IDLE, READY: ;
      COUNT: begin
        for (int b = 1; b <= MAX_CODE_BITS; ++b) count[b] <= count_next[b];
        if (any_too_long) too_long <= 1'b1;
        beat <= beat == 4'(BEATS - 1) ? '0 : beat + 1'b1;
        if (beat == 4'(BEATS - 1)) state <= ORDER;
      end
      default: begin
        for (int b = 1; b <= MAX_CODE_BITS; ++b) placed[b] <= placed_next[b];
        for (int i = 0; i < SYMBOLS_PER_CYCLE; ++i)
          if (length[i] != 0 && place[i] < 9'(CODE_SYMBOLS)) ordered[place[i]] <= 9'(int'(beat) * SYMBOLS_PER_CYCLE + i);
        beat <= beat + 1'b1;
        if (beat == 4'(BEATS - 1)) state <= READY;
      end
    endcase
    if (start) begin
      state <= COUNT;
      beat <= '0;
      too_long <= 1'b0;
      for (int b = 1; b <= MAX_CODE_BITS; ++b) begin
        count[b] <= '0;
        placed[b] <= '0;
      end
    end
    if (rst) state <= IDLE;
  end

  always_comb begin
    logic [8:0] at;
    at = '0;
    for (int l = 0; l < CODE_LANES; ++l) begin
      bits[l] = '0;
      for (int b = MAX_CODE_BITS; b >= 1; --b)
        if ({1'b0, next[l]} < first[b+1] && {1'b0, next[l]} >= first[b]) bits[l] = 4'(b);
      at = bits[l] == 0 ? '0 : shorter[bits[l]] + 9'(({1'b0, next[l]} - first[bits[l]]) >> (4'(MAX_CODE_BITS) - bits[l]));
      symbol[l] = ordered[at];
    end
  end
endmodule
