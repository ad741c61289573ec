// IEEE 754 binary32, round to nearest even, subnormals kept: what the fp32 rounding mode and softmax need.
package fp32_pkg;
  localparam logic [31:0] INF = 32'h7F80_0000;
  localparam logic [31:0] NAN = 32'h7FC0_0000;

  function automatic int leading_zeros(input logic [63:0] x);
    int n;
    n = 64;
    for (int i = 0; i < 64; ++i) if (x[i]) n = 63 - i;
    return n;
  endfunction

  // The nearest to (-1)^sign * m * 2^e. Bit 0 of m may stand for anything below it, if m has 27 bits or more.
  function automatic logic [31:0] round(input logic sign, input int e, input logic [63:0] m);
    logic [63:0] x;
    logic [31:0] bits;
    int lz, exponent, lost;
    logic up;
    if (m == 0) return {sign, 31'd0};
    lz = leading_zeros(m);
    x = m << lz;
    exponent = e - lz + 63;
    if (exponent > 127) return {sign, INF[30:0]};
    if (exponent < -126) begin  // subnormal
      lost = -126 - exponent;
      x = lost > 63 ? 64'd1 : (x >> lost) | 64'((x & ((64'd1 << lost) - 64'd1)) != 0);
      bits = {9'd0, x[62:40]};
    end else begin
      bits = {1'b0, 8'(exponent + 127), x[62:40]};
    end
    up = x[39] && (x[38:0] != 0 || x[40]);
    bits = bits + 32'(up);  // a carry into the exponent is right
    bits[31] = sign;
    return bits;
  endfunction

  // Finite: (-1)^sign * mantissa * 2^exponent.
  function automatic logic [23:0] mantissa(input logic [31:0] a);
    return {a[30:23] != 0, a[22:0]};
  endfunction
  function automatic int exponent(input logic [31:0] a);
    return (a[30:23] == 0 ? 1 : int'(a[30:23])) - 150;
  endfunction
  function automatic logic is_nan(input logic [31:0] a);
    return a[30:23] == 8'hFF && a[22:0] != 0;
  endfunction
  function automatic logic is_inf(input logic [31:0] a);
    return a[30:0] == INF[30:0];
  endfunction

  function automatic logic [31:0] mul(input logic [31:0] a, b);
    logic sign;
    sign = a[31] ^ b[31];
    if (is_nan(a) || is_nan(b)) return NAN;
    if (is_inf(a) || is_inf(b)) return (a[30:0] == 0 || b[30:0] == 0) ? NAN : {sign, INF[30:0]};
    return round(sign, exponent(a) + exponent(b), 64'(mantissa(a)) * 64'(mantissa(b)));
  endfunction

  function automatic logic [31:0] add(input logic [31:0] a, b);
    logic [31:0] big, small_;
    logic [63:0] x, y;
    int distance;
    if (is_nan(a) || is_nan(b) || (is_inf(a) && is_inf(b) && a[31] != b[31])) return NAN;
    if (is_inf(a)) return a;
    if (is_inf(b)) return b;
    big = a[30:0] >= b[30:0] ? a : b;
    small_ = a[30:0] >= b[30:0] ? b : a;
    distance = exponent(big) - exponent(small_);
    x = 64'(mantissa(big)) << 38;
    y = 64'(mantissa(small_)) << 38;
    y = distance > 63 ? 64'(y != 0) : (y >> distance) | 64'((y & ((64'd1 << distance) - 64'd1)) != 0);
    if (big[31] == small_[31]) return round(big[31], exponent(big) - 38, x + y);
    return x == y ? 32'd0 : round(big[31], exponent(big) - 38, x - y);
  endfunction

  function automatic logic [31:0] reciprocal(input logic [31:0] a);
    logic [63:0] r;
    logic [62:0] q;
    if (is_nan(a)) return NAN;
    if (is_inf(a)) return {a[31], 31'd0};
    if (a[30:0] == 0) return {a[31], INF[30:0]};
    q = 63'h4000_0000_0000_0000 / 63'(mantissa(a));
    r = 64'h4000_0000_0000_0000 % 64'(mantissa(a));
    return round(a[31], -63 - exponent(a), {q, r != 0});
  endfunction

  function automatic logic [31:0] from_int(input logic signed [31:0] v);
    return round(v < 0, 0, 64'(unsigned'(v < 0 ? -v : v)));
  endfunction

  // |a| * 2^30 or more, and what is not a number, saturates to +-2^bits.
  function automatic logic signed [31:0] to_int(input logic [31:0] a, input int bits, input logic nearest);
    logic [31:0] limit, bits_out;
    logic [63:0] x;
    int e;
    logic up;
    limit = 32'd1 << bits;
    if (is_nan(a)) return limit;
    if (int'(a[30:23]) >= 127 + bits) return a[31] ? -limit : limit;
    e = -exponent(a);  // fractional bits of the mantissa; above -8 as a is below 2^30
    x = 64'(mantissa(a)) << 32;
    if (e > 62) x = 64'(x != 0);
    else if (e >= 0) x = (x >> e) | 64'((x & ((64'd1 << e) - 64'd1)) != 0);
    else x = x << -e;
    up = nearest && x[31] && (x[30:0] != 0 || x[32]);
    bits_out = x[63:32] + 32'(up);
    return a[31] ? -bits_out : bits_out;
  endfunction

  // float(acc) * scale to the nearest integer, ties to even.
  function automatic logic signed [31:0] requant_fp32(input logic signed [31:0] acc, input logic [31:0] scale);
    return to_int(mul(from_int(acc), scale), 30, 1'b1);
  endfunction
endpackage
