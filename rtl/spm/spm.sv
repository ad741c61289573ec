// The scratchpad: BANKS banks of 64-bit words, word w in bank w mod BANKS. Every bank has an address generator, so that
// a window of WIN consecutive bytes from any word is read in one cycle, and another written: the window's words
// before bank 0 lie one row further. Data stay in bank order; who takes them knows where they start.
// The load and store queues' side is another port of the same banks (not in this RTL: they copy between instructions).
module spm
  import npu_pkg::*;
(
    input logic clk,
    input logic rd_en,
    input addr_t rd_addr,  // the window begins with the word that holds this byte
    output window_t rd_data,
    input logic wr_en,
    input addr_t wr_addr,
    input logic [BANKS-1:0][7:0] wr_be,  // in bank order, as the data
    input window_t wr_data
);
  logic [63:0] bank[ROWS][BANKS]  /*verilator public_flat_rw*/;

  function automatic logic [RW-1:0] row_of(input addr_t first, input int b);
    return first[AW-1:WB] + RW'(b < int'(first[WB-1:3]));
  endfunction

  always_ff @(posedge clk) begin
    if (rd_en) for (int b = 0; b < BANKS; ++b) rd_data[64*b+:64] <= bank[row_of(rd_addr, b)][b];
  end

  // Byte enables as a mask of bits.
  function automatic logic [63:0] bits_of(input logic [7:0] be);
    return {{8{be[7]}}, {8{be[6]}}, {8{be[5]}}, {8{be[4]}}, {8{be[3]}}, {8{be[2]}}, {8{be[1]}}, {8{be[0]}}};
  endfunction

  always_ff @(posedge clk) begin
    if (wr_en)
      for (int b = 0; b < BANKS; ++b)
        if (wr_be[b] != 0)
          bank[row_of(wr_addr, b)][b] <= bank[row_of(wr_addr, b)][b] & ~bits_of(wr_be[b]) | wr_data[64*b+:64] & bits_of(wr_be[b]);
  end
endmodule
