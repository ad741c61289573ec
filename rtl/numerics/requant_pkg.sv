// Integer rounding rules of the output stage and the element-wise unit. Written from the definitions in docs/rtl.md
// (TFLite's double rounding, single rounding); floating-point ones are in fp32_pkg.
package requant_pkg;
  // round(a * b / 2^31), ties up; the one product that does not fit saturates.
  function automatic logic signed [31:0] high_mul(input logic signed [31:0] a, input logic signed [31:0] b);
    logic signed [63:0] product;
    product = 64'(a) * 64'(b) + 64'sh4000_0000;
    return (a == 32'sh8000_0000 && b == 32'sh8000_0000) ? 32'sh7FFF_FFFF : 32'(product >>> 31);
  endfunction

  // round(x / 2^n), ties away from zero; 0 <= n <= 31.
  function automatic logic signed [31:0] div_pow2(input logic signed [31:0] x, input logic [5:0] n);
    logic [32:0] magnitude, half;
    magnitude = x < 0 ? 33'(-34'(x)) : 33'(x);
    half = n == 0 ? 33'd0 : 33'd1 << (n - 6'd1);
    magnitude = (magnitude + half) >> n;
    return x < 0 ? -32'(magnitude) : 32'(magnitude);
  endfunction

  // multiplier * 2^(shift - 31) applied in two roundings. A left shift wraps.
  function automatic logic signed [31:0] requant_double(input logic signed [31:0] acc, mult, shift);
    logic signed [31:0] x;
    x = shift > 0 ? acc <<< shift[4:0] : acc;
    return div_pow2(high_mul(x, mult), shift > 0 ? 6'd0 : 6'(-shift));
  endfunction

  // The same in one rounding, ties up; -31 <= shift <= 30.
  function automatic logic signed [31:0] requant_single(input logic signed [31:0] acc, mult, shift);
    logic signed [63:0] product;
    logic [5:0] total;
    total = 6'(32'sd31 - shift);
    product = 64'(acc) * 64'(mult) + (64'sd1 <<< (total - 6'd1));
    return 32'(product >>> total);
  endfunction

  // A channel's shift comes from memory: the nearest that the shifter has.
  function automatic logic signed [31:0] legal_shift(input logic signed [31:0] shift);
    return shift < -31 ? -32'sd31 : shift > 30 ? 32'sd30 : shift;
  endfunction

  function automatic logic signed [31:0] clamp(input logic signed [31:0] v, lo, hi);
    return v < lo ? lo : v > hi ? hi : v;
  endfunction

  function automatic logic signed [31:0] clamp_wide(input logic signed [32:0] v, input logic signed [31:0] lo, hi);
    return v < 33'(lo) ? lo : v > 33'(hi) ? hi : 32'(v);
  endfunction

  // sum / count, halves away from zero, for a quotient of at most 9 bits: restoring division, a bit a stage.
  function automatic logic signed [31:0] average(input logic signed [31:0] sum, input logic [31:0] count);
    logic [41:0] rest, divisor;
    logic [8:0] quotient;
    rest = 42'(unsigned'(sum < 0 ? -sum : sum)) + (42'(count) >> 1);
    quotient = 0;
    for (int i = 8; i >= 0; --i) begin
      divisor = 42'(count) << i;
      if (rest >= divisor) begin
        rest -= divisor;
        quotient[i] = 1;
      end
    end
    return sum > 0 ? 32'(quotient) : -32'(quotient);
  endfunction
endpackage
