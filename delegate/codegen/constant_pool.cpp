#include "delegate/codegen/constant_pool.h"

#include <algorithm>
#include <string_view>

#include "arch/executable.h"

namespace deputy::delegate {

std::uint64_t ConstantPool::add(std::span<const std::uint8_t> data) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  auto& candidates = by_hash_[std::hash<std::string_view>{}(text)];
  for (const Entry& entry : candidates)
    if (entry.bytes == data.size() &&
        std::equal(data.begin(), data.end(), bytes_.begin() + entry.offset))
      return entry.offset;
  constexpr std::size_t kAlign = arch::kConstantAlign;
  bytes_.resize((bytes_.size() + kAlign - 1) / kAlign * kAlign, 0);
  const std::uint64_t offset = bytes_.size();
  bytes_.insert(bytes_.end(), data.begin(), data.end());
  candidates.push_back({offset, data.size()});
  return offset;
}

}  // namespace deputy::delegate
