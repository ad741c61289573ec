// Einsum: every label is a loop; labels that the result does not have are summed over.
#include <algorithm>
#include <map>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// A term with its "..." written out: labels of the ellipsis are the characters 1, 2, ... from the
/// back.
base::Result<std::string> written_out(const Call& c, std::string_view term, std::size_t rank) {
  const std::size_t dots = term.find("...");
  if (dots == std::string_view::npos) {
    if (term.size() != rank) return c.fail("the term '{}' has not {} labels", term, rank);
    return std::string(term);
  }
  if (rank + 3 < term.size()) return c.fail("the term '{}' has more than {} labels", term, rank);
  std::string out(term.substr(0, dots));
  for (std::size_t k = rank + 3 - term.size(); k > 0; --k) out += static_cast<char>(k);
  return out + std::string(term.substr(dots + 3));
}

Status einsum(const Call& c) {
  std::string equation = c.node.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::string_view left = std::string_view(equation).substr(0, arrow);
  std::vector<std::string> terms;
  std::map<char, std::int64_t> size;
  std::map<char, int> uses;
  std::string ellipsis;
  for (std::size_t k = 0; k < c.inputs(); ++k) {
    const std::size_t comma = left.find(',');
    if (!c.has(k) || (comma == std::string_view::npos) != (k + 1 == c.inputs()))
      return c.fail("'{}' has not {} terms", equation, c.inputs());
    DEPUTY_ASSIGN(std::string term, written_out(c, left.substr(0, comma), c.rank(k)));
    left.remove_prefix(comma == std::string_view::npos ? left.size() : comma + 1);
    if (c.dtype(k) != c.dtype())
      return c.fail("operands of types {} and {}", dtype_name(c.dtype()), dtype_name(c.dtype(k)));
    std::string own;
    for (std::size_t d = 0; d < term.size(); ++d) {
      const char label = term[d];
      if (label > 8 && !(label >= 'a' && label <= 'z') && !(label >= 'A' && label <= 'Z'))
        return c.fail("'{}' is no equation", equation);
      const std::int64_t dim = c.shape(k)[d];
      auto [at, fresh] = size.emplace(label, dim);
      if (!fresh && at->second != dim && at->second != 1 && dim != 1)
        return c.fail("label sizes {} and {} differ", at->second, dim);
      at->second = at->second == 1 ? dim : at->second;
      ++uses[label];
      if (label <= 8) own += label;
    }
    if (own.size() > ellipsis.size()) ellipsis = own;
    terms.push_back(std::move(term));
  }
  std::string result;
  if (arrow == std::string::npos) {  // the labels that occur once, in alphabetical order
    result = ellipsis;
    for (const auto& [label, n] : uses)
      if (label > 8 && n == 1) result += label;
  } else {
    result = equation.substr(arrow + 2);
    const std::size_t dots = result.find("...");
    if (dots != std::string::npos) result.replace(dots, 3, ellipsis);
  }
  Shape shape, loops;
  std::string labels = result;
  for (const char label : result) {
    if (!size.contains(label) || std::count(result.begin(), result.end(), label) != 1)
      return c.fail("'{}' is no equation", equation);
    shape.push_back(static_cast<std::int32_t>(size[label]));
  }
  loops = shape;
  std::int64_t inner = 1;
  for (const auto& [label, n] : size)
    if (result.find(label) == std::string::npos)
      labels += label, loops.push_back(static_cast<std::int32_t>(n)), inner *= n;
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.inputs() > 3) return c.fail("more than three operands are not supported");
  std::array<Ints, 3> step;
  for (Ints& s : step) s.assign(loops.size(), 0);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const Ints own = strides(c.shape(k));
    for (std::size_t d = 0; d < terms[k].size(); ++d)
      if (c.shape(k)[d] != 1)
        step[k][labels.find(terms[k][d])] += own[d];  // a label twice in a term walks the diagonal
  }
  return with_type(c, c.dtype(), Types<float, double, Half, std::int32_t, std::int64_t>{},
                   [&](auto zero) -> Status {
                     using T = decltype(zero);
                     using W = Wide<T>;
                     if (c.infer_only()) return {};
                     c.clear();
                     std::int64_t at_loop = 0;
                     W sum = 0;
                     for_each<3>(loops, step, [&](const auto& at) {
                       W value = static_cast<W>(c.in<T>(0)[at[0]]);
                       for (std::size_t k = 1; k < terms.size(); ++k)
                         value *= static_cast<W>(c.in<T>(k)[at[k]]);
                       sum += value;
                       if (++at_loop % inner == 0) c.out<T>()[at_loop / inner - 1] = sum, sum = 0;
                     });
                     return {};
                   });
}

constexpr Kernel kKernels[] = {{"Einsum", 1, 3, 1, einsum, "at most three operands"}};

}  // namespace

std::span<const Kernel> einsum_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
