#include "transport/type_signature.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace wisp::detail {
namespace {

/// Datatypes that are freed at the end of a test.
class TypeSignatureTest : public testing::Test {
 protected:
  ~TypeSignatureTest() override {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }
  MPI_Datatype keep(MPI_Datatype type) { return made_.emplace_back(type); }
  MPI_Datatype contiguous(int count, MPI_Datatype of) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(count, of, &type);
    return keep(type);
  }
  MPI_Datatype struct_of(const std::vector<MPI_Datatype>& types, const std::vector<int>& counts) {
    std::vector<MPI_Aint> places;
    for (std::size_t i = 0; i < types.size(); ++i) places.push_back(static_cast<MPI_Aint>(1000 - 100 * i));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(types.size()), counts.data(), places.data(), types.data(), &type);
    return keep(type);
  }

 private:
  std::vector<MPI_Datatype> made_;
};

TEST_F(TypeSignatureTest, AllWaysToSayTheSameElementsAreAlike) {
  const auto twelve = signature_of(MPI_INT, 12);
  ASSERT_TRUE(twelve);
  EXPECT_EQ(signature_of(MPI_INT32_T, 12), twelve);
  EXPECT_EQ(signature_of(contiguous(4, MPI_INT), 3), twelve);
  EXPECT_EQ(signature_of(contiguous(2, contiguous(3, MPI_INT)), 2), twelve);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 5, MPI_INT, &type);
  EXPECT_EQ(signature_of(keep(type), 2), twelve);
  MPI_Type_create_hvector(6, 1, 64, MPI_INT, &type);
  EXPECT_EQ(signature_of(keep(type), 2), twelve);
  const int lengths[] = {3, 0, 1};
  const int places[] = {9, 2, 0};
  MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
  EXPECT_EQ(signature_of(keep(type), 3), twelve);
  MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type);
  EXPECT_EQ(signature_of(keep(type), 2), twelve);
  const int sizes[] = {4, 5};
  const int parts[] = {2, 3};
  const int starts[] = {1, 1};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
  EXPECT_EQ(signature_of(keep(type), 2), twelve);
  MPI_Type_create_resized(MPI_INT, -8, 32, &type);
  EXPECT_EQ(signature_of(keep(type), 12), twelve);
  MPI_Type_dup(contiguous(12, MPI_INT), &type);
  EXPECT_EQ(signature_of(keep(type), 1), twelve);
  EXPECT_EQ(signature_of(struct_of({MPI_INT, MPI_INT}, {1, 2}), 4), twelve);
}

TEST_F(TypeSignatureTest, PairsOfValueAndPlaceAreTheirTwo) {
  EXPECT_EQ(signature_of(MPI_2INT, 3), signature_of(MPI_INT, 6));
  EXPECT_EQ(signature_of(MPI_DOUBLE_INT, 2), signature_of(struct_of({MPI_DOUBLE, MPI_INT}, {1, 1}), 2));
  EXPECT_EQ(signature_of(MPI_LONG_INT, 1), signature_of(struct_of({MPI_LONG, MPI_INT}, {1, 1}), 1));
  EXPECT_NE(signature_of(MPI_FLOAT_INT, 2), signature_of(struct_of({MPI_INT, MPI_FLOAT}, {1, 1}), 2));
  EXPECT_EQ(signature_of(MPI_LONG_DOUBLE_INT, 1),
            signature_of(struct_of({MPI_LONG_DOUBLE, MPI_INT}, {1, 1}), 1));
  EXPECT_EQ(signature_of(contiguous(2, MPI_SHORT_INT), 1), signature_of(MPI_SHORT_INT, 2));
  EXPECT_EQ(signature_of(MPI_2REAL, 2), signature_of(MPI_REAL, 4));
}

TEST_F(TypeSignatureTest, OtherElementsAnotherOrderOrAnotherNumberDiffer) {
  const auto twelve = signature_of(MPI_INT, 12);
  for (const MPI_Datatype other : {MPI_FLOAT, MPI_UNSIGNED, MPI_LONG, MPI_SHORT, MPI_C_BOOL}) {
    EXPECT_NE(signature_of(other, 12), twelve);
  }
  EXPECT_NE(signature_of(MPI_INT, 11), twelve);
  EXPECT_NE(signature_of(struct_of({MPI_INT, MPI_FLOAT}, {1, 1}), 6),
            signature_of(struct_of({MPI_FLOAT, MPI_INT}, {1, 1}), 6));
  EXPECT_EQ(signature_of(struct_of({MPI_INT, MPI_FLOAT}, {1, 1}), 6),
            signature_of(struct_of({MPI_INT, MPI_FLOAT, MPI_INT, MPI_FLOAT}, {1, 1, 1, 1}), 3));
}

TEST_F(TypeSignatureTest, BytesAndPackedDataMayBeAnything) {
  EXPECT_EQ(signature_of(MPI_BYTE, 4), std::nullopt);
  EXPECT_EQ(signature_of(MPI_PACKED, 4), std::nullopt);
  EXPECT_EQ(signature_of(struct_of({MPI_INT, MPI_BYTE}, {1, 4}), 2), std::nullopt);
}

TEST_F(TypeSignatureTest, ManyRepetitionsTakeNoTime) {
  const std::size_t many = std::size_t{1} << 50;
  EXPECT_EQ(signature_of(contiguous(1024, MPI_DOUBLE), many), signature_of(MPI_DOUBLE, many * 1024));
}

TEST_F(TypeSignatureTest, FortransTypesByPrecisionAreMpisOwnAndStay) {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real) != MPI_SUCCESS) GTEST_SKIP() << "no Fortran";
  const MPI_Datatype three = contiguous(3, real);  // nobody frees `real` itself
  const MPI_Datatype mixed = struct_of({MPI_INT, real}, {1, 2});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(signature_of(real, 3), std::nullopt);
    EXPECT_EQ(signature_of(three, 1), std::nullopt);
    EXPECT_EQ(signature_of(contiguous(2, three), 1), std::nullopt);
    EXPECT_EQ(signature_of(mixed, 2), std::nullopt);
  }
  int size = 0;
  EXPECT_EQ(MPI_Type_size(real, &size), MPI_SUCCESS);
  EXPECT_EQ(size, static_cast<int>(sizeof(double)));
}

#if MPI_VERSION >= 4
TEST_F(TypeSignatureTest, TypesOfLargeCountsAreAnythingOrWhatTheyAre) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c(12, MPI_INT, &type);
  const MPI_Datatype twelve = keep(type);
  const MPI_Count lengths[] = {5, 7};
  const MPI_Count places[] = {0, 64};
  const MPI_Datatype types[] = {MPI_INT, twelve};
  MPI_Type_create_struct_c(2, lengths, places, types, &type);
  const MPI_Datatype mixed = keep(type);
  const auto is_right = [](const auto& found, std::size_t ints) {
    return !found || found == signature_of(MPI_INT, ints);
  };
  EXPECT_TRUE(is_right(signature_of(twelve, 2), 24));
  EXPECT_TRUE(is_right(signature_of(contiguous(3, twelve), 1), 36));
  EXPECT_TRUE(is_right(signature_of(mixed, 1), 89));
}
#endif

}  // namespace
}  // namespace wisp::detail
