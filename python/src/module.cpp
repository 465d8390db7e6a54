/// subspectra._core: what the Python package calls. Tables are views of NumPy arrays, options are JSON,
/// answers are the result files of the command line, as texts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include <subspectra/error.hpp>

#include "arrow.hpp"
#include "calls.hpp"
#include "data/values.hpp"
#include "tables.hpp"
#include "waiting.hpp"

namespace nb = nanobind;

namespace subspectra::python {
namespace {

/// The classes of subspectra._errors, by name.
void raise(const char* type, const Error& error, const InvalidArgument* argument) {
  nb::object made = nb::module_::import_("subspectra._errors").attr(type)(error.text(Spelling::kPython));
  if (argument != nullptr) {
    made.attr("field") = argument->field;
    made.attr("value") = argument->value;
    made.attr("rule") = argument->rule;
    made.attr("way_out") = argument->way_out;
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

/// The one place where the library's exceptions become Python's.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    raise("InvalidArgument", error, &error);
  } catch (const BadInput& error) {
    raise("BadInput", error, nullptr);
  } catch (const Infeasible& error) {
    raise("Infeasible", error, nullptr);
  } catch (const Error& error) {
    raise("SubspectraError", error, nullptr);
  }
}

struct Table {
  Dataset data;
};

/// One matrix (components) or a pair (discriminants).
struct Matrices {
  Covariances covariances;
};

/// Runs a call that answers with a text or a model.
template <class Call>
auto waited(const Contact& contact, Call&& call) {
  std::optional<decltype(call(std::declval<const RunControl&>()))> answer;
  run_waiting(contact, [&](const RunControl& control) { answer.emplace(call(control)); });
  return std::move(*answer);
}

Contact with_limit(Contact contact, const CallOptions& call_options) {
  contact.time_limit_s = time_limit_of(call_options.options);
  return contact;
}

std::vector<std::int32_t> codes_of(const Dataset& data) {
  return {data.class_codes().begin(), data.class_codes().end()};
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The bindings of the C++ library; subspectra's own modules are what to use.";
  nb::register_exception_translator(translate);

  nb::class_<CallOptions>(m, "CallOptions",
                          "What a call is told: options as JSON, and lists of feature names.")
      .def(
          "__init__",
          [](CallOptions* self, std::string options, std::vector<std::string> include,
             std::vector<std::string> exclude, std::vector<std::string> feature_groups, bool certify,
             const std::optional<DenseArray>& start, std::string read) {
            new (self) CallOptions{std::move(options),
                                   std::move(include),
                                   std::move(exclude),
                                   std::move(feature_groups),
                                   certify,
                                   start ? std::optional(copy_of(*start)) : std::nullopt,
                                   std::move(read)};
          },
          nb::arg("options") = "{}", nb::arg("include") = std::vector<std::string>(),
          nb::arg("exclude") = std::vector<std::string>(),
          nb::arg("feature_groups") = std::vector<std::string>(), nb::arg("certify") = true,
          nb::arg("start") = nb::none(), nb::arg("read") = "{}");

  nb::class_<Contact>(m, "Contact", "Who is told of progress, and what an interrupt does.")
      .def(
          "__init__",
          [](Contact* self, nb::object progress, bool listens, bool keeps_best) {
            new (self) Contact{std::move(progress), listens, keeps_best};
          },
          nb::arg("progress").none(), nb::arg("listens"), nb::arg("keeps_best"));

  nb::class_<Beside>(m, "Beside", "What comes with a table: labels, names, weights, groups of rows.")
      .def(
          "__init__",
          [](Beside* self, std::optional<Integers> codes, std::vector<std::string> classes,
             std::vector<std::string> names, std::optional<Doubles> weights, std::vector<std::string> groups,
             std::string source) {
            new (self) Beside{std::move(codes),   std::move(classes), std::move(names),
                              std::move(weights), std::move(groups),  std::move(source)};
          },
          nb::arg("codes") = nb::none(), nb::arg("classes") = std::vector<std::string>(),
          nb::arg("names") = std::vector<std::string>(), nb::arg("weights") = nb::none(),
          nb::arg("groups") = std::vector<std::string>(), nb::arg("source") = "");

  nb::class_<Table>(m, "Table", "A table of the library: a view of arrays, or what a file holds.")
      .def_static(
          "dense", [](const DenseArray& x, const Beside& beside) { return Table{dense_table(x, beside)}; },
          nb::arg("x").noconvert(), nb::arg("beside"))
      .def_static(
          "sparse",
          [](Index rows, Index cols, const Integers& outer, const Integers& inner, const Doubles& values,
             const Beside& beside) { return Table{sparse_table(rows, cols, outer, inner, values, beside)}; },
          nb::arg("rows"), nb::arg("cols"), nb::arg("outer").noconvert(), nb::arg("inner").noconvert(),
          nb::arg("values").noconvert(), nb::arg("beside"))
      .def_static(
          "read",
          [](const std::string& path, const CallOptions& call_options) {
            const nb::gil_scoped_release unlocked;
            return Table{read(path, call_options)};
          },
          nb::arg("path"), nb::arg("call_options"))
      .def_prop_ro("rows", [](const Table& t) { return t.data.rows(); })
      .def_prop_ro("features", [](const Table& t) { return t.data.features(); })
      .def_prop_ro(
          "address", [](const Table& t) { return reinterpret_cast<std::uintptr_t>(t.data.values().data()); },
          "Where the numbers stand: tells a view from a copy.")
      .def_prop_ro("source", [](const Table& t) { return t.data.source(); })
      .def_prop_ro("is_sparse", [](const Table& t) { return t.data.is_sparse(); })
      .def_prop_ro("names", [](const Table& t) { return t.data.feature_names(); })
      .def_prop_ro("classes",
                   [](const Table& t) {
                     return std::vector<std::string>(t.data.classes().begin(), t.data.classes().end());
                   })
      .def_prop_ro(
          "codes", [](const Table& t) { return numpy_of(codes_of(t.data)); },
          nb::rv_policy::automatic)  // numbers of its own, not of the table
      .def_prop_ro("warnings",
                   [](const Table& t) {
                     std::vector<std::string> texts;
                     for (const auto& one : t.data.warnings())
                       texts.push_back(spelled(one, Spelling::kPython));
                     return texts;
                   })
      .def(
          "matrix", [](const Table& t) { return numpy_of(t.data.matrix()); }, "The numbers: a copy.");

  nb::class_<Matrices>(m, "Matrices", "Covariance matrices in place of a table.")
      .def_static(
          "one",
          [](const DenseArray& s, std::vector<std::string> names) {
            return Matrices{Covariance(view_of(s), {.names = std::move(names)})};
          },
          nb::arg("s").noconvert(), nb::arg("names"))
      .def_static(
          "pair",
          [](const DenseArray& a, const DenseArray& b, std::vector<std::string> names) {
            return Matrices{CovariancePair(view_of(a), view_of(b), {.names = std::move(names)})};
          },
          nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("names"));

  nb::class_<Fitted>(m, "Fitted", "A trained model and how it came about.")
      .def_static("from_json", &model_from_json, nb::arg("text"))
      .def_static("from_file", &model_from_file, nb::arg("path"))
      .def_ro("file", &Fitted::file)
      .def_ro("selection", &Fitted::selection)
      .def_ro("evaluation", &Fitted::evaluation)
      .def_ro("k", &Fitted::k)
      .def_ro("status", &Fitted::status)
      .def_ro("warnings", &Fitted::warnings)
      .def_ro("note", &Fitted::note)
      .def(
          "predict_proba",
          [](const Fitted& fitted, const Table& rows) {
            std::optional<DenseMatrix> answer;
            {
              const nb::gil_scoped_release unlocked;
              answer = predict_proba(*fitted.model, rows.data);
            }
            return numpy_of(std::move(*answer));
          },
          nb::arg("rows"));

  m.def(
      "select",
      [](const Table& table, const std::string& method, const CallOptions& call_options,
         const Contact& contact) {
        return waited(with_limit(contact, call_options), [&](const RunControl& control) {
          return select(table.data, method, call_options, control);
        });
      },
      nb::arg("table"), nb::arg("method"), nb::arg("call_options"), nb::arg("contact"));
  m.def(
      "select_matrices",
      [](const Matrices& matrices, const std::string& method, const CallOptions& call_options,
         const Contact& contact) {
        return waited(with_limit(contact, call_options), [&](const RunControl& control) {
          return select(matrices.covariances, method, call_options, control);
        });
      },
      nb::arg("matrices"), nb::arg("method"), nb::arg("call_options"), nb::arg("contact"));
  m.def(
      "renormalize",
      [](const Table& table, const GivenNames& sets, const CallOptions& call_options) {
        const nb::gil_scoped_release unlocked;
        return renormalize(table.data, sets, call_options);
      },
      nb::arg("table"), nb::arg("sets"), nb::arg("call_options"));
  m.def(
      "renormalize_matrices",
      [](const Matrices& matrices, const GivenNames& sets, const CallOptions& call_options) {
        const nb::gil_scoped_release unlocked;
        return renormalize(matrices.covariances, sets, call_options);
      },
      nb::arg("matrices"), nb::arg("sets"), nb::arg("call_options"));
  m.def(
      "fit",
      [](const Table& table, const std::string& method, const CallOptions& call_options,
         const Contact& contact) {
        return waited(with_limit(contact, call_options), [&](const RunControl& control) {
          return fit(table.data, method, call_options, control);
        });
      },
      nb::arg("table"), nb::arg("method"), nb::arg("call_options"), nb::arg("contact"));
  m.def(
      "evaluate",
      [](const Table& table, const std::vector<NamedMethod>& methods, const CallOptions& call_options,
         const Contact& contact) {
        return waited(with_limit(contact, call_options), [&](const RunControl& control) {
          return evaluate(table.data, methods, call_options, control);
        });
      },
      nb::arg("table"), nb::arg("methods"), nb::arg("call_options"), nb::arg("contact"));
  m.def(
      "evaluate_part",
      [](const Table& table, const std::vector<NamedMethod>& methods, const CallOptions& call_options,
         const std::string& part, const Contact& contact) {
        return waited(contact, [&](const RunControl& control) {
          return evaluate_part(table.data, methods, call_options, part, control);
        });
      },
      nb::arg("table"), nb::arg("methods"), nb::arg("call_options"), nb::arg("part"), nb::arg("contact"));
  m.def(
      "merge_evaluation",
      [](const Table& table, const std::vector<NamedMethod>& methods, const CallOptions& call_options,
         const std::vector<std::string>& parts, const Contact& contact) {
        return waited(contact, [&](const RunControl& control) {
          return merge_evaluation(table.data, methods, call_options, parts, control);
        });
      },
      nb::arg("table"), nb::arg("methods"), nb::arg("call_options"), nb::arg("parts"), nb::arg("contact"));
  m.def(
      "report",
      [](const std::vector<std::tuple<std::string, std::string, std::string>>& sources, const Table* table,
         const std::string& data_path, const std::string& shape) {
        std::vector<PageSource> given;
        for (const auto& [name, text, path] : sources)
          given.push_back({.name = name, .text = text, .path = path});
        Page page;
        {
          const nb::gil_scoped_release unlocked;
          page = report(given, table != nullptr ? &table->data : nullptr, data_path, shape);
        }
        return std::pair(std::move(page.html), std::move(page.figures));
      },
      nb::arg("sources"), nb::arg("table").none(), nb::arg("data_path"), nb::arg("shape"),
      "The page of results (name, text, path), and its figures as SVG.");
  m.def(
      "cluster",
      [](const Table& table, const std::string& method, const CallOptions& call_options,
         const Contact& contact) {
        return waited(with_limit(contact, call_options), [&](const RunControl& control) {
          return cluster(table.data, method, call_options, control);
        });
      },
      nb::arg("table"), nb::arg("method"), nb::arg("call_options"), nb::arg("contact"));
  m.def(
      "verify",
      [](const std::string& result, const Table& table, const CallOptions& call_options,
         const Contact& contact) {
        return waited(with_limit(contact, call_options), [&](const RunControl& control) {
          return verify(result, &table.data, nullptr, call_options, control);
        });
      },
      nb::arg("result"), nb::arg("table"), nb::arg("call_options"), nb::arg("contact"));
  m.def(
      "verify_matrices",
      [](const std::string& result, const Matrices& matrices, const CallOptions& call_options,
         const Contact& contact) {
        return waited(with_limit(contact, call_options), [&](const RunControl& control) {
          return verify(result, nullptr, &matrices.covariances, call_options, control);
        });
      },
      nb::arg("result"), nb::arg("matrices"), nb::arg("call_options"), nb::arg("contact"));
  m.def(
      "synthesize",
      [](const std::string& name, const std::string& options) -> std::variant<Table, nb::dict> {
        Synthetic made;
        {
          const nb::gil_scoped_release unlocked;
          made = synthesize(name, options);
        }
        if (made.table) return Table{std::move(*made.table)};
        nb::dict matrices;
        for (auto& [matrix, values] : made.matrices) matrices[matrix.c_str()] = numpy_of(std::move(values));
        return matrices;
      },
      nb::arg("name"), nb::arg("options"));
  m.def(
      "arrow_stream",
      [](nb::handle capsule) {
        auto [numbers, names] = read_arrow_stream(capsule);
        return std::pair(numpy_of(std::move(numbers)), std::move(names));
      },
      nb::arg("capsule"), "The numbers of an Arrow stream, and the names of its columns.");
  m.def("catalogue", &catalogue, "What there is, as JSON: methods, classifiers, problems, options.");
  m.def("build_lines", &build_lines);
  m.def("version", &version_text);
}

}  // namespace subspectra::python
