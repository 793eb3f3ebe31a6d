#include "rlc/base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace rlc {
namespace {

TEST(Hash, OfNothingIsThePublishedValue) {
  // XXH3 128 of zero bytes, seed 0: files name arrays by this hash, so it may never change.
  EXPECT_EQ(ContentHash(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, PiecesGiveTheSameHashAsTheWhole) {
  const std::string text(100000, 'x');
  Hasher hasher;
  hasher.Add(text.substr(0, 17)).Add(text.substr(17, 5000)).Add(text.substr(5017));
  EXPECT_EQ(hasher.Hex(), ContentHash(text));
}

TEST(Hash, OneBitChangesIt) { EXPECT_NE(ContentHash("abc"), ContentHash("abb")); }

TEST(Hash, TextsKeepTheirBorders) {
  EXPECT_NE(Hasher().AddText("ab").AddText("c").Hex(), Hasher().AddText("a").AddText("bc").Hex());
  EXPECT_EQ(Hasher().Add("ab").Add("c").Hex(), Hasher().Add("a").Add("bc").Hex());
}

TEST(Hash, NegativeZeroCountsAsZero) {
  EXPECT_EQ(Hasher().AddDouble(-0.0).Hex(), Hasher().AddDouble(0.0).Hex());
  EXPECT_NE(Hasher().AddDouble(1.0).Low64(), Hasher().AddDouble(-1.0).Low64());
}

TEST(Hash, CombineDependsOnOrder) {
  EXPECT_NE(HashCombine(HashCombine(0, 1), 2), HashCombine(HashCombine(0, 2), 1));
  EXPECT_NE(HashCombine(1, 2), HashCombine(2, 1));
  EXPECT_NE(HashCombine(0, 0), 0U);
}

}  // namespace
}  // namespace rlc
