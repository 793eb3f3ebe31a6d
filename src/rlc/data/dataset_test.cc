#include "rlc/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/data/npy.h"
#include "rlc/data/npz.h"
#include "rlc/testing/paths.h"

namespace rlc {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string TestFile(const std::string& name) { return SourcePath("src/rlc/data/testdata/" + name); }

using Rows = std::vector<std::size_t>;

class DatasetTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const { return JoinPath(folder_->path(), name); }

  std::string Npz(const std::vector<NamedArray>& arrays) const {
    const std::string path = Path("d.npz");
    EXPECT_TRUE(WriteNpz(path, arrays));
    return path;
  }

  std::string ErrorOf(const std::string& path) const {
    const auto data = Dataset::Open(path, inputs_);
    return data ? "no error" : data.error().message;
  }

  void CopyImage(const std::string& name, const std::string& to) const {
    ASSERT_TRUE(MakeFolders(FolderOf(Path(to))));
    ASSERT_TRUE(WriteFileAtomically(Path(to), *ReadFile(TestFile(name))));
  }

  Expected<TempDir> folder_ = TempDir::Create();
  std::vector<InputSpec> inputs_ = {{"x", ElementType::kFloat32, {-1, 2}}};
  Array table_ = Array::Of<float>({3, 2}, {0, 1, 2, 3, 4, 5});
};

TEST_F(DatasetTest, NpzGivesRowsAndLabels) {
  const std::string path = Npz({{"x", table_}, {"labels", Array::Of<int64_t>({3}, {0, 2, 1})}});
  const auto data = Dataset::Open(path, inputs_);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->size(), 3U);
  EXPECT_FALSE(data->is_random());
  EXPECT_EQ(data->Describe(), path + ", 3 samples with labels");
  const auto batch = data->Batch(Rows{2, 0});
  ASSERT_TRUE(batch);
  EXPECT_EQ((*batch)[0].name, "x");
  EXPECT_EQ((*batch)[0].array, Array::Of<float>({2, 2}, {4, 5, 0, 1}));
  EXPECT_THAT(*data->ClassLabels(3), ElementsAre(0, 2, 1));
  EXPECT_THAT(data->ClassLabels(2).error().message, HasSubstr("label of sample 1 is 2, wanted 0 to 1"));
}

TEST_F(DatasetTest, HashFollowsContents) {
  const std::string before = Dataset::Open(Npz({{"x", table_}}), inputs_)->Hash();
  EXPECT_EQ(Dataset::Open(Npz({{"x", table_}}), inputs_)->Hash(), before);
  EXPECT_NE(Dataset::Open(Npz({{"x", Array::Of<float>({3, 2}, {0, 1, 2, 3, 4, 6})}}), inputs_)->Hash(), before);
}

TEST_F(DatasetTest, WrongArraysNameInputFoundAndWanted) {
  EXPECT_THAT(ErrorOf(Npz({{"y", table_}})), HasSubstr("has no array for input 'x'; it has: y"));
  EXPECT_THAT(ErrorOf(Npz({{"x", table_.Reshaped({2, 3})}})),
              HasSubstr("data for input 'x' have shape [2,3], wanted [N,2] (N samples)"));
  EXPECT_THAT(ErrorOf(Npz({{"x", Array::Of<float>({}, {1})}})), HasSubstr("have shape [], wanted [N,2]"));
  EXPECT_THAT(ErrorOf(Npz({{"x", Array::Of<int32_t>({1, 2}, {1, 2})}})),
              HasSubstr("data for input 'x' are int32, wanted float32"));
  EXPECT_THAT(ErrorOf(Npz({{"x", Array::Of<float>({0, 2}, {})}})), HasSubstr("holds no samples"));
  EXPECT_THAT(ErrorOf(Npz({{"x", table_}, {"labels", Array::Of<int64_t>({2}, {0, 1})}})),
              HasSubstr("'labels' has shape [2], wanted one row for each of the 3 samples"));
}

TEST_F(DatasetTest, SeveralInputsMustAgreeInNumber) {
  inputs_.push_back({"mask", ElementType::kInt64, {-1}});
  EXPECT_THAT(ErrorOf(Npz({{"x", table_}, {"mask", Array::Of<int64_t>({2}, {1, 1})}})),
              HasSubstr("2 samples for input 'mask', but 3 for 'x'"));
  const auto data = Dataset::Open(Npz({{"x", table_}, {"mask", Array::Of<int32_t>({3}, {1, 0, 1})}}), inputs_);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ((*data->Batch(Rows{0, 1}))[1].array, Array::Of<int64_t>({2}, {1, 0}));  // widened
}

TEST_F(DatasetTest, FloatWidthsAreConvertedIntegersOnlyIfTheyFit) {
  const auto doubles = Dataset::Open(Npz({{"x", *table_.Cast(ElementType::kFloat64)}}), inputs_);
  ASSERT_TRUE(doubles);
  EXPECT_EQ((*doubles->Batch(Rows{1}))[0].array, Array::Of<float>({1, 2}, {2, 3}));
  inputs_[0] = {"x", ElementType::kInt8, {-1}};
  const auto wide = Dataset::Open(Npz({{"x", Array::Of<int64_t>({2}, {5, 500})}}), inputs_);
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->Batch(Rows{0}));
  EXPECT_THAT(wide->Batch(Rows{1}).error().message, HasSubstr("input 'x': element 0 is 500, which int8 does not hold"));
}

TEST_F(DatasetTest, ScalarsAndExtraBatchAxes) {
  inputs_ = {{"s", ElementType::kFloat32, {}}, {"x", ElementType::kFloat32, {1, 2}}};
  const auto data =
      Dataset::Open(Npz({{"s", Array::Of<float>({3}, {7, 8, 9})}, {"x", table_.Reshaped({3, 1, 2})}}), inputs_);
  ASSERT_TRUE(data) << data.error().message;
  const auto batch = data->Batch(Rows{1});
  EXPECT_EQ((*batch)[0].array, Array::Of<float>({}, {8}));
  EXPECT_EQ((*batch)[1].array, Array::Of<float>({1, 2}, {2, 3}));
  EXPECT_THAT(data->Batch(Rows{0, 1}).error().message, HasSubstr("input 's' is a scalar"));
}

TEST_F(DatasetTest, NpyIsForOneInput) {
  ASSERT_TRUE(WriteNpy(Path("d.npy"), table_));
  EXPECT_EQ(Dataset::Open(Path("d.npy"), inputs_)->size(), 3U);
  EXPECT_THAT(Dataset::Open(Path("d.npy"), inputs_)->ClassLabels().error().message, HasSubstr("has no labels"));
  inputs_.push_back(inputs_[0]);
  EXPECT_THAT(ErrorOf(Path("d.npy")), HasSubstr("is one array, but the model has 2 inputs"));
}

TEST_F(DatasetTest, FolderOfArrays) {
  inputs_[0].name = "in/x:0";
  ASSERT_TRUE(WriteNpy(Path("in_x_0.npy"), table_));
  ASSERT_TRUE(WriteNpy(Path("labels.npy"), Array::Of<uint8_t>({3, 1}, {1, 2, 3})));
  const auto data = Dataset::Open(folder_->path(), inputs_);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(*data->ClassLabels(), ElementsAre(1, 2, 3));
  inputs_.push_back({"other", ElementType::kFloat32, {-1}});
  EXPECT_THAT(ErrorOf(folder_->path()), HasSubstr("no file other.npy for input 'other'"));
}

TEST_F(DatasetTest, PathsThatAreNoData) {
  EXPECT_THAT(ErrorOf(Path("none")), HasSubstr("no such file or folder"));
  EXPECT_THAT(ErrorOf(folder_->path()), HasSubstr("holds no data: neither x.npy nor images"));
  ASSERT_TRUE(WriteFileAtomically(Path("d.txt"), "x"));
  EXPECT_THAT(ErrorOf(Path("d.txt")), HasSubstr("found a file that ends in '.txt'"));
  ASSERT_TRUE(WriteFileAtomically(Path("d.npz"), "x"));
  EXPECT_THAT(ErrorOf(Path("d.npz")), HasSubstr("is no .npz file"));
}

TEST_F(DatasetTest, LabelsOfOtherFormsAreForPrograms) {
  const auto data =
      Dataset::Open(Npz({{"x", table_}, {"labels", Array::Of<float>({3, 4}, std::vector<float>(12))}}), inputs_);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->labels().shape()[1], 4);
  EXPECT_THAT(data->ClassLabels().error().message, HasSubstr("'labels' is float32 of shape [3,4]"));
  const auto negative = Dataset::Open(Npz({{"x", table_}, {"labels", Array::Of<int64_t>({3}, {0, -1, 0})}}), inputs_);
  EXPECT_THAT(negative->ClassLabels().error().message, HasSubstr("label of sample 1 is -1, wanted 0 or more"));
}

TEST_F(DatasetTest, ImagesWithClassesFromFolders) {
  CopyImage("rgb.png", "cat/b.png");
  CopyImage("rgb.jpg", "cat/a.jpg");
  CopyImage("grey.png", "dog/c.PNG");
  ASSERT_TRUE(WriteFileAtomically(Path("dog/notes.txt"), "x"));
  inputs_ = {{"x", ElementType::kFloat32, {-1, 3, 24, 24}}};
  const auto data = Dataset::Open(folder_->path(), inputs_, {.preprocess = *ParsePreprocess("resize=24,crop=24")});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->size(), 3U);
  EXPECT_THAT(*data->ClassLabels(2), ElementsAre(0, 0, 1));
  const auto batch = data->Batch(Rows{0, 1, 2});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_THAT((*batch)[0].array.shape(), ElementsAre(3, 3, 24, 24));
  const std::string hash = data->Hash();
  EXPECT_NE(Dataset::Open(folder_->path(), inputs_, {.preprocess = *ParsePreprocess("resize=30,crop=24")})->Hash(),
            hash);
}

TEST_F(DatasetTest, NumberedFoldersAreTheClasses) {
  CopyImage("rgb.png", "10/a.png");
  CopyImage("rgb.png", "2/a.png");
  inputs_ = {{"x", ElementType::kUint8, {-1, 31, 45, 3}}};
  const auto data = Dataset::Open(folder_->path(), inputs_, {.preprocess = *ParsePreprocess("layout=nhwc")});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(*data->ClassLabels(), ElementsAre(10, 2));
}

TEST_F(DatasetTest, ImagesThatDoNotFitSaySo) {
  CopyImage("rgb.png", "a.png");
  inputs_ = {{"x", ElementType::kFloat32, {-1, 3, 32, 32}}};
  EXPECT_THAT(ErrorOf(folder_->path()),
              HasSubstr("image of 31x45 gives shape [3,31,45] after preprocessing, input 'x' wants "
                        "[3,32,32]; set --preprocess"));
  inputs_ = {{"x", ElementType::kFloat32, {-1, 10}}};
  EXPECT_THAT(ErrorOf(folder_->path()), HasSubstr("which is no image"));
  inputs_ = {{"x", ElementType::kFloat32, {-1, 3, -1, -1}}};
  ASSERT_TRUE(WriteFileAtomically(Path("b.png"), "no image"));
  const auto data = Dataset::Open(folder_->path(), inputs_);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(data->Batch(Rows{1}).error().message, HasSubstr("b.png: is neither a PNG nor a JPEG"));
}

TEST_F(DatasetTest, RandomRowsDoNotDependOnTheirNumber) {
  inputs_ = {
      {"x", ElementType::kFloat16, {-1, 3}}, {"ids", ElementType::kInt64, {1, 4}}, {"on", ElementType::kBool, {}}};
  const auto few = Dataset::Random(inputs_, 4, 1);
  const auto many = Dataset::Random(inputs_, 100, 1);
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->is_random());
  EXPECT_FALSE(few->has_labels());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    EXPECT_EQ((*few->Batch(Rows{3}))[i].array, (*many->Batch(Rows{3}))[i].array);
  }
  EXPECT_NE((*few->Batch(Rows{0}))[0].array.ToDoubles(), (*few->Batch(Rows{1}))[0].array.ToDoubles());
  EXPECT_NE(few->Hash(), Dataset::Random(inputs_, 4, 2)->Hash());
  EXPECT_THAT((*few->Batch(Rows{0}))[1].array.data<int64_t>(), Each(testing::AnyOf(0, 1)));
  EXPECT_TRUE((*few->Batch(Rows{0}))[2].array.shape().empty());
}

TEST_F(DatasetTest, RandomNeedsFixedShapes) {
  inputs_ = {{"x", ElementType::kFloat32, {-1, 3, -1, 8}}};
  const auto data = Dataset::Random(inputs_, 4, 1);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(data.error().message,
              HasSubstr("input 'x' has shape [?,3,?,8]: say which to use, for example --shape x:"));
  inputs_[0].shape = {1, int64_t{1} << 40, 8};
  EXPECT_THAT(Dataset::Random(inputs_, 4, 1).error().message, HasSubstr("too large"));
  inputs_[0].shape = {1};
  EXPECT_FALSE(Dataset::Random(inputs_, 0, 1));
}

}  // namespace
}  // namespace rlc
