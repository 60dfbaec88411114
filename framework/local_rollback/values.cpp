#include "framework/local_rollback/values.hpp"

#include "framework/local_rollback/plain_calls.hpp"
#include "transport/mpi.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mend {
namespace {

constexpr int digits_of_x87 = 64;
constexpr std::size_t used_bytes_of_x87 = 10;
constexpr bool long_double_has_unused_bytes =
    std::numeric_limits<long double>::digits == digits_of_x87 && sizeof(long double) == 16;

/// Returns how many long doubles of the x87 a value of a type begins with that is made of no others.
std::size_t x87_numbers_in(MPI_Datatype type) {
  if (!long_double_has_unused_bytes) return 0;
  if (type == MPI_LONG_DOUBLE || type == MPI_LONG_DOUBLE_INT) return 1;
  if (type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX) return 2;
  // Types that were asked for by the digits of Fortran's numbers are other names for these.
  const int combiner = envelope_of(type).combiner;
  const auto size = static_cast<std::size_t>(bytes_of(1, type));
  if (combiner == MPI_COMBINER_F90_REAL && size == sizeof(long double)) return 1;
  if (combiner == MPI_COMBINER_F90_COMPLEX && size == 2 * sizeof(long double)) return 2;
  return 0;
}

/// The packed form of the values of a type, as far as bytes without a meaning are concerned.
struct PackedForm {
  std::size_t size = 0;           // of a value
  std::size_t count = 1;          // of values, where it is a part of another
  std::size_t x87_numbers = 0;    // with which a value begins
  std::vector<PackedForm> parts;  // of a value, one after the other; none if no byte is without a meaning

  bool has_unused() const { return x87_numbers > 0 || !parts.empty(); }
};

PackedForm packed_form_of(MPI_Datatype type) {
  PackedForm form;
  form.size = static_cast<std::size_t>(bytes_of(1, type));
  const TypeEnvelope envelope = envelope_of(type);
  if (envelope.types == 0) {
    form.x87_numbers = x87_numbers_in(type);
    return form;
  }
  std::vector<int> integers(static_cast<std::size_t>(envelope.integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(envelope.addresses));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(envelope.types));
  PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers.data(), addresses.data(),
                         types.data());
  bool has_any = false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    PackedForm& part = form.parts.emplace_back(packed_form_of(types[i]));
    has_any = has_any || part.has_unused();
    // Only a structure is made of several types. The number of types comes before the number of values of each.
    part.count =
        types.size() > 1 ? static_cast<std::size_t>(integers[i + 1]) : form.size / std::max<std::size_t>(part.size, 1);
    if (envelope_of(types[i]).types > 0) PMPI_Type_free(&types[i]);
  }
  if (!has_any) form.parts.clear();
  return form;
}

void clear_unused_in(std::byte* values, std::size_t count, const PackedForm& form) {
  if (!form.has_unused()) return;
  for (std::byte* const end = values + count * form.size; values != end; values += form.size) {
    for (std::size_t i = 0; i < form.x87_numbers; ++i) {
      std::fill_n(values + i * sizeof(long double) + used_bytes_of_x87, sizeof(long double) - used_bytes_of_x87,
                  std::byte{});
    }
    std::byte* part = values;
    for (const PackedForm& one : form.parts) {
      clear_unused_in(part, one.count, one);
      part += one.count * one.size;
    }
  }
}

// The form of a type that is made of others is an attribute of the type, because MPI copies the whole description of a
// type when it is asked for. A duplicate of the type gets its own when it is sent: most duplicates are for receives.

int drop_kept_form(MPI_Datatype, int, void* form, void*) {
  const std::unique_ptr<PackedForm> dropped(static_cast<PackedForm*>(form));
  return MPI_SUCCESS;
}

const PackedForm& kept_form_of(MPI_Datatype type) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check_mpi(PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, &drop_kept_form, &made, nullptr),
              "MPI_Type_create_keyval");
    return made;
  }();
  PackedForm* kept = nullptr;
  int is_kept = 0;
  PMPI_Type_get_attr(type, key, static_cast<void*>(&kept), &is_kept);
  if (is_kept == 0) {
    auto form = std::make_unique<PackedForm>(packed_form_of(type));
    check_mpi(PMPI_Type_set_attr(type, key, form.get()), "MPI_Type_set_attr");
    kept = form.release();
  }
  return *kept;
}

}  // namespace

TypeEnvelope envelope_of(MPI_Datatype type) {
  TypeEnvelope one;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_get_envelope(type, &one.integers, &one.addresses, &one.types, &one.combiner);
  return one;
}

bool has_unused_bytes(MPI_Datatype type) { return x87_numbers_in(type) > 0; }

void clear_unused(std::span<std::byte> packed, MPI_Datatype type) {
  if (!long_double_has_unused_bytes) return;
  const auto clear = [&](const PackedForm& form) {
    if (form.size > 0) clear_unused_in(packed.data(), packed.size() / form.size, form);
  };
  if (envelope_of(type).types == 0) {
    clear(packed_form_of(type));
  } else {
    clear(kept_form_of(type));
  }
}

int copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type) {
  const std::optional<int> plain = from_type == to_type ? plain_size(from_type) : std::nullopt;
  if (plain && from_count >= 0 && from_count <= to_count) {
    if (from_count > 0) std::memmove(to, from, static_cast<std::size_t>(*plain) * static_cast<std::size_t>(from_count));
    return MPI_SUCCESS;
  }
  // Not MPI_COMM_SELF, where the application may have messages.
  static const MPI_Comm own = [] {
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(PMPI_Comm_dup(MPI_COMM_SELF, &made), "MPI_Comm_dup");
    return made;
  }();
  return quietly([&] {
    return PMPI_Sendrecv(from, from_count, from_type, 0, 0, to, to_count, to_type, 0, 0, own, MPI_STATUS_IGNORE);
  });
}

int check_reduction(int count, MPI_Datatype type, MPI_Op op) {
  return quietly([&] { return PMPI_Reduce_local(nullptr, nullptr, std::min(count, 0), type, op); });  // reduces nothing
}

}  // namespace mend
