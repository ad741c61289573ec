// What was made last, by key, up to some bytes: an evaluator's programs and runs.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace deputy::tools {

template <class T>
class Recent {
 public:
  explicit Recent(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Null when it is not there (any more). Valid until the next add().
  T* find(const std::string& key) {
    const auto it = entries_.find(key);
    return it == entries_.end() ? nullptr : &it->second.first;
  }
  /// Forgets the oldest until there is room; one is always kept.
  T& add(const std::string& key, T value, std::size_t bytes) {
    bytes_ += bytes;
    order_.push_back(key);
    for (; bytes_ > most_bytes_ && order_.size() > 1; order_.pop_front()) {
      const auto oldest = entries_.find(order_.front());
      bytes_ -= oldest->second.second;
      entries_.erase(oldest);
    }
    return entries_.emplace(key, std::pair(std::move(value), bytes)).first->second.first;
  }

 private:
  std::size_t most_bytes_, bytes_ = 0;
  std::map<std::string, std::pair<T, std::size_t>> entries_;
  std::deque<std::string> order_;
};

}  // namespace deputy::tools
