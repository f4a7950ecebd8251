// SPDX-License-Identifier: Apache-2.0
#include "annotation_patch.h"
#include "answers.h"
#include "object_json.h"
#include "write_answers.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/wording.h>
#include <assay/kubeapi/annotations.h>

namespace assay::kubeapi {
namespace {

constexpr int kCreated = 201;
constexpr int kInvalid = 422;

std::string shown(const ObjectName& object) {
  return fmt::format("{} {}{}{}", object.resource.name(), object.name_space,
                     object.name_space.empty() ? "" : "/", object.name);
}

Written gone(const ObjectName& object) {
  return {.outcome = Outcome::gone, .why = shown(object) + " is gone"};
}

Written taken(const ObjectName& object, const std::string& field, const std::string& by) {
  return {.outcome = Outcome::taken,
          .why = fmt::format("{} of {} belongs to {}; take it away there, or use other keys",
                             in_quotes(field), shown(object), by)};
}

/// Takes the keys that others have from what is wanted; false: there was none of them.
bool leave(const std::vector<FieldConflict>& conflicts, Annotations& wanted) {
  return std::erase_if(wanted, [&](const auto& annotation) {
           return std::any_of(conflicts.begin(), conflicts.end(), [&](const FieldConflict& each) {
             return each.field.ends_with(annotation.first);
           });
         }) > 0;
}

}  // namespace

AnnotationWriter::AnnotationWriter(Client& client, AnnotationOptions options)
    : client_(client), options_(std::move(options)), can_apply_(options_.apply) {}

Result<Written> AnnotationWriter::write(const ObjectName& object, const Annotations& annotations,
                                        net::Stopper& stopper) {
  if (object.uid.empty()) return bad_input("no uid is known of " + shown(object));
  return can_apply_ ? apply(object, annotations, stopper) : merge(object, annotations, stopper);
}

Result<Written> AnnotationWriter::clean(const ObjectName& object, net::Stopper& stopper) {
  ASSAY_TRY(Written answer, write(object, {}, stopper));
  if (answer.outcome != Outcome::done || !can_apply_) return answer;
  // What was merged once does not go by an apply.
  return merge(object, {}, stopper);
}

Result<net::Response> AnnotationWriter::send_apply(const ObjectName& object,
                                                   const Annotations& annotations, bool force,
                                                   net::Stopper& stopper) {
  ASSAY_TRY(const std::string path, object_path(object));
  return client_.call({.method = "PATCH",
                       .path = fmt::format("{}?fieldManager={}&force={}", path,
                                           net::url_encoded(options_.manager), force),
                       .body = apply_body(object, annotations),
                       .content_type = "application/apply-patch+yaml",
                       .accept = std::string(kOnlyMeta)},
                      stopper);
}

Result<Written> AnnotationWriter::apply(const ObjectName& object, const Annotations& annotations,
                                        net::Stopper& stopper) {
  bool force = options_.force;
  Annotations wanted = annotations;
  std::string left;
  for (int i = 0; i < options_.tries; ++i) {
    ASSAY_TRY(const net::Response response, send_apply(object, wanted, force, stopper));
    if (response.status == kCreated) return undo_creation(object, response.body, stopper);
    if (response.status == kWrongMediaType) {
      can_apply_ = false;
      return merge(object, annotations, stopper);
    }
    const auto conflicts = response.status == kConflict ? field_conflicts(response.body)
                                                        : std::vector<FieldConflict>();
    const auto other = std::find_if(conflicts.begin(), conflicts.end(), [this](const auto& each) {
      return each.manager != options_.manager;
    });
    if (other != conflicts.end()) {
      const Written answer = taken(object, other->field, in_quotes(other->manager));
      if (!options_.leave_taken || !leave(conflicts, wanted)) return answer;
      left = answer.why;
      continue;
    }
    // Keys that we have merged once are ours, and yet somebody else's to the server.
    force = force || !conflicts.empty();
    if (!conflicts.empty()) continue;
    ASSAY_TRY(Written answer, not_applied(object, response, stopper));
    if (answer.outcome == Outcome::done) answer.why = left;
    if (answer.outcome != Outcome::taken) return answer;
  }
  return fail({ErrorKind::environment,
               fmt::format("{} changes too fast to be annotated", shown(object)), true});
}

/// Also of an answer that is ok. Old servers try to create an object that is gone, and complain of
/// what it lacks or of a right that nobody should need.
Result<Written> AnnotationWriter::not_applied(const ObjectName& object,
                                              const net::Response& response,
                                              net::Stopper& stopper) {
  ASSAY_TRY(Written answer, written(client_, response, "patch", object.resource));
  const int status = response.status;
  if (status != kConflict && status != kForbidden && status != kInvalid) return answer;
  const auto now = get_meta(client_, object, stopper);
  if (now && !*now) return gone(object);
  return answer;
}

Result<Written> AnnotationWriter::undo_creation(const ObjectName& object,
                                                const std::string& created, net::Stopper& stopper) {
  ASSAY_TRY(const ObjectMeta made, read_object(created));
  ObjectName empty = object;
  empty.uid = made.uid;
  const auto undone = delete_object(client_, empty, Propagation::background, stopper);
  if (undone && (undone->outcome == Outcome::done || undone->outcome == Outcome::gone))
    return gone(object);
  return refused(
      fmt::format("{} was gone, and the server made an empty one instead: delete it ({})",
                  shown(object), undone ? undone->why : undone.error().message));
}

Result<net::Response> AnnotationWriter::send_merge(const ObjectName& object,
                                                   const std::string& body, net::Stopper& stopper) {
  ASSAY_TRY(const std::string path, object_path(object));
  return client_.call(
      {.method = "PATCH",
       .path = fmt::format("{}?fieldManager={}", path, net::url_encoded(options_.manager)),
       .body = body,
       .content_type = "application/merge-patch+json",
       .accept = std::string(kOnlyMeta)},
      stopper);
}

Result<Written> AnnotationWriter::merge(const ObjectName& object, const Annotations& annotations,
                                        net::Stopper& stopper) {
  for (int i = 0; i < options_.tries; ++i) {
    ASSAY_TRY(const auto now, get_as(client_, object, kOnlyMeta, stopper));
    if (!now) return gone(object);
    const MergePatch patch = merge_patch(*now, annotations, options_);
    if (!patch.taken.empty()) return taken(object, patch.taken, "somebody else");
    if (patch.body.empty()) {
      ASSAY_TRY(ObjectMeta meta, read_object(*now));
      return Written{.object = std::move(meta)};
    }
    ASSAY_TRY(const net::Response response, send_merge(object, patch.body, stopper));
    if (response.status != kConflict) return written(client_, response, "patch", object.resource);
  }
  return fail({ErrorKind::environment,
               fmt::format("{} changes too fast to be annotated", shown(object)), true});
}

}  // namespace assay::kubeapi
