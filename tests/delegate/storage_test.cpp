// Which buffer each tensor lies in: addresses worked out by hand.
#include "delegate/passes/storage.h"

#include <catch2/catch.hpp>

namespace deputy::delegate {
namespace {

Graph tensors(const std::vector<Shape>& shapes) {
  Graph g;
  for (const Shape& shape : shapes) {
    Tensor t;
    t.desc.shape = shape;
    g.tensors.push_back(t);
  }
  return g;
}
using Strides = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("parts of a concatenation lie strided in the whole, aliases and parts of parts follow") {
  // 0 and 1 are channels 0-2 and 3-7 of 2; 3 is 2 seen as rows; 4 is 1 seen as rows; 5 is channels
  // 1-2 of 1.
  const Graph g = tensors(
      {{1, 4, 6, 3}, {1, 4, 6, 5}, {1, 4, 6, 8}, {24, 8}, {24, 5}, {1, 4, 6, 2}, {1, 4, 6, 8}});
  StorageWishes wishes;
  wishes.aliases = {{3, 2}, {4, 1}};
  wishes.parts = {slice_part(g, 0, 2, 3, 0), slice_part(g, 1, 2, 3, 3), slice_part(g, 5, 1, 3, 1)};
  const StorageMap map = plan_storage(g, wishes);
  for (const TensorId id : {0, 1, 2, 3, 4, 5}) CHECK(map.root(id) == 2);
  CHECK(map.root(6) == 6);
  CHECK(map.bytes == std::vector<std::uint64_t>{0, 0, 192, 0, 0, 0, 192});
  CHECK(map.of(0).offset == 0);
  CHECK(map.of(0).strides == Strides{192, 48, 8, 1});
  CHECK(map.of(1).offset == 3);
  CHECK(map.of(4).offset == 3);
  CHECK(map.of(4).strides == Strides{8, 1});
  CHECK(map.of(3).strides == Strides{8, 1});
  CHECK(map.of(5).offset == 4);
  CHECK(map.of(5).strides == Strides{192, 48, 8, 1});
}

TEST_CASE("a source whose alias is a part lies in the whole") {
  const Graph g = tensors({{2, 3}, {1, 6}, {2, 6}});
  StorageWishes wishes;
  wishes.aliases = {{1, 0}};
  wishes.parts = {slice_part(g, 1, 2, 0, 1)};
  const StorageMap map = plan_storage(g, wishes);
  CHECK(map.root(0) == 2);
  CHECK(map.of(0).offset == 6);
  CHECK(map.of(0).strides == Strides{3, 1});
}

TEST_CASE("a part may drop a dimension and take every second row") {
  const Graph g = tensors({{4, 6}, {2, 3}, {6}});
  StorageWishes wishes;
  wishes.parts = {{1, 0, {1, 1}, {0, 1}, {2, 2}}, {2, 0, {3, 0}, {1}, {1}}};
  const StorageMap map = plan_storage(g, wishes);
  CHECK(map.of(1).offset == 7);
  CHECK(map.of(1).strides == Strides{12, 2});
  CHECK(map.of(2).offset == 18);
  CHECK(map.of(2).strides == Strides{1});
}

TEST_CASE("a ring keeps its rows only, a fused tensor nothing") {
  const Graph g = tensors({{1, 20, 6, 3}, {1, 20, 6, 3}, {20, 18}, {1, 4, 6, 3}});
  StorageWishes wishes;
  wishes.rings = {{0, 5}, {3, 5}};
  wishes.unstored = {1};
  wishes.aliases = {{2, 1}};
  const StorageMap map = plan_storage(g, wishes);
  CHECK(map.bytes[0] == 90);
  CHECK(map.of(0).ring == 5);
  CHECK(map.of(0).strides == Strides{90, 18, 3, 1});
  CHECK(map.of(3).ring == 0);  // fewer rows than the ring
  CHECK(map.bytes[3] == 72);
  CHECK(!map.of(1).stored);
  CHECK(!map.of(2).stored);
}

TEST_CASE("strides of a strided tensor in another shape") {
  CHECK(reshaped_strides({2, 3, 4}, {96, 32, 1}, {6, 4}) == Strides{32, 1});
  CHECK(reshaped_strides({2, 3, 4}, {96, 32, 1}, {2, 3, 2, 2}) == Strides{96, 32, 2, 1});
  CHECK(reshaped_strides({1, 2, 1, 4}, {0, 9, 77, 1}, {2, 1, 4, 1}).has_value());
  CHECK(!reshaped_strides({2, 3, 4}, {96, 32, 1}, {24}));
  CHECK(!reshaped_strides({2, 3, 4}, {100, 32, 1}, {6, 4}));
  CHECK(reshaped_strides({2, 3, 4}, {12, 4, 1}, {24}) == Strides{1});
  CHECK(reshaped_strides({}, {}, {1, 1}).has_value());
}

}  // namespace deputy::delegate
