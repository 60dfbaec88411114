#pragma once

#include "store/store.hpp"

#include <memory>
#include <string_view>

namespace mend {

class Engine;
class LocalRollback;

/// The store as the application sees it under local rollback. Its calls continue after failures. It refuses calls that
/// ranks that do not roll back would have to repeat.
class LocalRollbackStore final : public Store {
 public:
  /// Both arguments must outlive this object.
  LocalRollbackStore(Engine& engine, LocalRollback& rollback) : engine_(engine), rollback_(rollback) {}

  using Store::protect;
  using Store::replace;
  using Store::restore;
  using Store::restore_from;
  void protect(std::string_view name, std::unique_ptr<Member> member) override;
  void protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) override;
  File file(std::string_view name) override;
  File file(std::string_view name, Redundancy redundancy) override;
  void replace(std::string_view name, std::unique_ptr<Member> member) override;
  void unprotect(std::string_view name) override;
  Version commit() override;
  void commit_async() override;
  Version finish_commit() override;
  void finish_disk() override;
  Version restore() override;
  Version restore(Version wanted) override;
  Version restore_from(Rank from) override;
  Version restore_others() override;
  Version version() const override;
  KeptVersions versions() const override;
  Origin restored_from() const override;
  const StoreStatistics& statistics() const override;

 private:
  void prepare_commit(std::string_view call);

  Engine& engine_;
  LocalRollback& rollback_;
};

}  // namespace mend
