// Finds the Views that an object holds, for any types.

#include "framework/mend_kokkos.hpp"

#include <Kokkos_DualView.hpp>
#include <gmock/gmock.h>

#include <sys/mman.h>
#include <unistd.h>

#include <complex>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

using mend::kokkos::detail::arguments_in;
using mend::kokkos::detail::Held;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

using Numbers = Kokkos::View<double*>;

struct Special {
  static constexpr const char* get_name() { return "Special"; }
};

template <class Object>
std::vector<std::string> labels_in(const Object& object) {
  std::vector<std::string> labels;
  for (const auto& [label, shared] : Held::by(object)) labels.push_back(label);
  return labels;
}

TEST(AnObject, holds_the_views_that_a_lambda_captures_by_value_and_no_other) {
  const Numbers u("u", 10);
  const Kokkos::View<int**, Kokkos::LayoutLeft> v("v", 2, 3);
  const Numbers w("w", 10);
  EXPECT_THAT(labels_in([=] { return u(0) + v(0, 0); }), ElementsAre("u", "v"));
  EXPECT_THAT(labels_in([=] { return w(0); }), ElementsAre("w"));
  EXPECT_THAT(labels_in([&] { return w(0); }), IsEmpty());
  EXPECT_THAT(labels_in(5), IsEmpty());
}

TEST(AnObject, holds_one_memory_once_whatever_views_there_are_of_it) {
  const Kokkos::View<double**> whole("whole", 4, 5);
  const auto row = Kokkos::subview(whole, 1, Kokkos::ALL);
  const Kokkos::View<const double**> fixed = whole;
  const auto again = whole;
  const auto views = Held::by([=] { return whole(0, 0) + row(0) + fixed(0, 0) + again(0, 0); });
  ASSERT_THAT(views, testing::SizeIs(1));
  EXPECT_EQ(views.begin()->first, "whole");
  EXPECT_EQ(views.begin()->second.record->data(), whole.data());
  EXPECT_GE(views.begin()->second.record->size(), 20 * sizeof(double));
  EXPECT_THAT(labels_in([=] { return row(0); }), ElementsAre("whole"));
}

TEST(AnObject, holds_the_views_in_what_it_has_by_value) {
  struct Mesh {
    Numbers x{"x", 3};
    std::vector<Numbers> fields{Numbers("one", 2), Numbers("two", 2)};
  };
  const Mesh mesh;
  EXPECT_THAT(labels_in([=] { return mesh.x(0); }), ElementsAre("one", "two", "x"));
}

TEST(AnObject, holds_the_views_in_a_view_of_views) {
  using Nested = Kokkos::View<Numbers*, Kokkos::HostSpace>;
#if KOKKOS_VERSION >= 40401
  const Nested nested(Kokkos::view_alloc("nested", Kokkos::SequentialHostInit), 3);  // as Kokkos wants it
#else
  const Nested nested("nested", 3);
#endif
  for (std::size_t i = 0; i < 2; ++i) nested(i) = Numbers("inner", 4 + i);
  const Numbers alias = nested(0);
  const auto views = Held::by([=] { return nested(0)(0); });
  EXPECT_THAT(labels_in([=] { return nested(0)(0); }), ElementsAre("nested[0]", "nested[1]"));
  ASSERT_TRUE(views.contains("nested[0]"));
  EXPECT_EQ(views.at("nested[0]").record->data(), nested(0).data());
  EXPECT_EQ(views.at("nested[1]").record->data(), nested(1).data());
}

TEST(AnObject, names_its_own_views_first_wherever_they_lie) {
  using Nested = Kokkos::View<Numbers*, Kokkos::HostSpace>;
  const auto make = [] {
#if KOKKOS_VERSION >= 40401
    return Nested(Kokkos::view_alloc("nested", Kokkos::SequentialHostInit), 2);
#else
    return Nested("nested", 2);
#endif
  };
  for (const bool nested_is_first : {true, false}) {
    const auto early = nested_is_first ? make() : Nested();
    const Numbers inner("inner", 4);
    const auto nested = nested_is_first ? early : make();
    nested(0) = inner;
    nested(1) = Numbers("inner", 5);
    const auto views = Held::by([=] { return nested(0)(0) + inner(0); });
    EXPECT_EQ(views.size(), 2U);
    ASSERT_TRUE(views.contains("inner")) << nested_is_first;
    EXPECT_EQ(views.at("inner").record->data(), inner.data());
    EXPECT_TRUE(views.contains("nested[1]"));
  }
}

TEST(AnObject, holds_dual_views_with_their_flags) {
  const Kokkos::DualView<double*> a("a", 3);
  const Kokkos::DualView<double*> b("b", 3);
  const auto labels = labels_in([=] { return a.h_view(0) + b.h_view(0); });
  EXPECT_THAT(labels,
              testing::IsSupersetOf({"a", "b", "DualView::modified_flags of a", "DualView::modified_flags of b"}));
  EXPECT_THAT(labels_in([=] { return b.h_view(0); }), testing::Contains("DualView::modified_flags of b"));
}

TEST(AnObject, is_refused_if_flags_of_dual_views_could_be_mistaken) {
  const auto refused =
      ThrowsMessage<mend::UsageError>(HasSubstr("a region captures a DualView that was resized or made of Views"));
  Kokkos::DualView<double*> a("a", 3);
  const Kokkos::DualView<double*> b("b", 3);
  a.resize(5);
  EXPECT_THAT([&] { labels_in([=] { return a.h_view(0) + b.h_view(0); }); }, refused);
  const Numbers x("x", 3);
  const Kokkos::DualView<double*, Kokkos::HostSpace> of_x(x, x);
  EXPECT_THAT([&] { labels_in([=] { return of_x.h_view(0); }); }, refused);
}

TEST(AnObject, is_refused_while_a_view_is_where_it_would_not_be_found) {
  using Space = Kokkos::Experimental::LogicalMemorySpace<Kokkos::HostSpace, Kokkos::DefaultHostExecutionSpace, Special>;
  {
    const Kokkos::View<double*, Space> u("u", 3);
    EXPECT_THAT([&] { labels_in([=] { return u.extent(0); }); },
                ThrowsMessage<mend::UsageError>(HasSubstr("View 'u' is in the memory space Special, where regions do "
                                                          "not find Views")));
  }
  const Numbers v("v", 3);
  EXPECT_THAT(labels_in([=] { return v(0); }), ElementsAre("v"));
}

TEST(AnObject, does_not_hold_views_that_do_not_manage_their_memory_nor_memory_without_views) {
  std::vector<double> memory(10);
  const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> unmanaged(memory.data(), 10);
  const Numbers u("u", 1);
  void* const raw = Kokkos::kokkos_malloc("raw", 100);
  EXPECT_THAT(labels_in([=] { return unmanaged(0) + u(0) + (raw != nullptr ? 1 : 0); }), ElementsAre("u"));
  Kokkos::kokkos_free(raw);
}

/// Memory that Kokkos allocates itself has no header, and may be shorter than one. This allocation ends where the
/// process may not read.
TEST(AnObject, is_found_out_about_without_reading_behind_memory_that_has_no_header) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  std::byte* const end = static_cast<std::byte*>(pages) + page;
  ASSERT_EQ(::mprotect(end, page, PROT_NONE), 0);
  constexpr std::size_t bytes = 64;
  const auto callbacks = Kokkos::Tools::Experimental::get_callbacks();
  const auto host = Kokkos::Tools::make_space_handle(Kokkos::HostSpace::name());
  callbacks.allocate_data(host, "raw", end - bytes, bytes);
  const Numbers u("u", 1);
  EXPECT_THAT(labels_in([=] { return u(0); }), ElementsAre("u"));
  callbacks.deallocate_data(host, "raw", end - bytes, bytes);
  ::munmap(pages, 2 * page);
}

TEST(AnObject, holds_a_view_at_an_address_that_another_had_before) {
  for (int i = 0; i < 50; ++i) {
    const Numbers now("now " + std::to_string(i), 7);
    EXPECT_THAT(labels_in([=] { return now(0); }), ElementsAre("now " + std::to_string(i)));
  }
}

struct Particle {
  double position[3];
  int kind;
};
struct Chain {
  Chain* next;
};

TEST(TheElementsOfAView, are_numbers_or_declared_plain_values) {
  const Kokkos::View<Kokkos::complex<double>*> phases("phases", 3);
  EXPECT_THAT(labels_in([=] { return phases(0).real(); }), ElementsAre("phases"));

  const Kokkos::View<Particle*> particles("particles", 3);
  EXPECT_THAT([&] { labels_in([=] { return particles(0).kind; }); },
              ThrowsMessage<mend::UsageError>(HasSubstr("View 'particles' has elements of the type (anonymous "
                                                        "namespace)::Particle, of which mend does not know that they "
                                                        "are plain values: declare it by mend::kokkos::plain<T>()")));
  mend::kokkos::plain<Particle>();
  EXPECT_THAT(labels_in([=] { return particles(0).kind; }), ElementsAre("particles"));

  const Kokkos::View<Chain**> pointers("pointers", 3, 3);
  EXPECT_THROW(labels_in([=] { return pointers(0, 0).next == nullptr; }), mend::UsageError);
  const Kokkos::View<double**> table("table", 3, 3);
  EXPECT_THAT(labels_in([=] { return table(0, 0); }), ElementsAre("table"));
  const Kokkos::View<double* [2], Kokkos::HostSpace> pairs("pairs", 3);
  EXPECT_THAT(labels_in([=] { return pairs(0, 0); }), ElementsAre("pairs"));
}

TEST(ALabel, stands_for_one_view) {
  const Numbers one("same", 3);
  const Numbers two("same", 3);
  EXPECT_THAT([&] { labels_in([=] { return one(0) + two(0); }); },
              ThrowsMessage<mend::UsageError>(
                  HasSubstr("two Views that a region captures have the label 'same': give each a label of its own")));
  const Numbers nameless(Kokkos::view_alloc(Kokkos::WithoutInitializing, ""), 3);
  EXPECT_THAT([&] { labels_in([=] { return nameless(0); }); },
              ThrowsMessage<mend::UsageError>(HasSubstr("has no label: give it one")));
}

TEST(AToolOfKokkos, that_takes_the_place_where_mend_hears_of_views_is_noticed) {
  namespace tools = Kokkos::Tools::Experimental;
  const auto before = tools::get_callbacks();
  tools::set_allocate_data_callback([](auto...) {});
  const Numbers u("u", 1);
  EXPECT_THAT([&] { labels_in([=] { return u(0); }); },
              ThrowsMessage<mend::UsageError>(HasSubstr("a tool of Kokkos has taken the place")));
  tools::set_callbacks(before);
}

TEST(TheNameOfAType, is_taken_apart_at_its_outermost_commas) {
  EXPECT_THAT(arguments_in("A<B, C>, double, true> >"), ElementsAre("A<B, C>", "double", "true"));
  EXPECT_THAT(arguments_in("f(int, int), K::View<x*, S> >"), ElementsAre("f(int, int)", "K::View<x*, S>"));
}

TEST(TheMemoryOfAView, is_carried_over_by_the_member_made_of_it) {
  const Kokkos::View<double**> from("from", 3, 4);
  const Kokkos::View<double**> to("to", 3, 4);
  Kokkos::deep_copy(from, 2.5);
  const auto source = Held::by([=] { return from(0, 0); }).at("from");
  const auto target = Held::by([=] { return to(0, 0); }).at("to");
  const auto packing = source.member(source.record);
  const auto unpacking = target.member(target.record);
  ASSERT_EQ(packing->shape(), unpacking->shape());
  std::vector<std::byte> bytes(packing->size());
  packing->pack(bytes);
  unpacking->unpack(bytes);
  const auto all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all(i, 3), 2.5);
}

TEST(TheMemoryOfAView, stays_as_long_as_the_member_made_of_it) {
  std::unique_ptr<mend::Member> member;
  {
    const Numbers u("short lived", 5);
    Kokkos::deep_copy(u, 4.0);
    const auto shared = Held::by([=] { return u(0); }).at("short lived");
    member = shared.member(shared.record);
  }
  std::vector<std::byte> bytes(member->size());
  member->pack(bytes);
  double first = 0;
  std::memcpy(&first, bytes.data(), sizeof first);
  EXPECT_EQ(first, 4.0);
}

}  // namespace
