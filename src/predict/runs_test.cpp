// SPDX-License-Identifier: Apache-2.0
#include <assay/predict/runs.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

const std::string kHead = "device,device_cpu_cores,device_load_percent,execution_time,conv_layers,";

std::string error_of(const std::string& text) {
  const auto runs = read_runs({"t.csv", text});
  return runs ? "" : runs.error().message;
}

TEST(Runs, old_tables_are_read_without_a_mapping) {
  const auto runs = read_runs({"t.csv", kHead + "fully_conn_layers,total_parameters\n"
                                                "pi,4,25,00:00:01.500000,5,1,1000\n"
                                                "pi,4,150,00:00:03.000000,5,1,1000\n"
                                                "pc,8,0,00:00:00.250000,6,2,2000\n"});
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->runs.size(), 3U);
  EXPECT_EQ(runs->runs[0].seconds, 1.5);
  EXPECT_EQ(runs->runs[0].load, 0.25);
  EXPECT_EQ(runs->runs[1].load, 1) << "no more than all cores";
  EXPECT_EQ(runs->runs[2].task, 1U);
  ASSERT_EQ(runs->models.size(), 2U) << "those with the same counts are one";
  EXPECT_EQ(runs->models[1].counts.fc_layers, 2U);
  EXPECT_FALSE(runs->models[1].workload);
  ASSERT_EQ(runs->devices.size(), 2U);
  EXPECT_EQ(runs->devices[1].cores, 8);
}

TEST(Runs, families_are_names_without_variants) {
  EXPECT_EQ(family_of("mobilenet-v2_r96"), "mobilenet");
  EXPECT_EQ(family_of("resnet18_w0.5"), "resnet");
  EXPECT_EQ(family_of("squeezenet1.1"), "squeezenet");
  EXPECT_EQ(family_of("lstm"), "lstm");
  EXPECT_EQ(family_of("42"), "42");
  EXPECT_EQ(family_of("mixed-convs_r96_s7"), "mixed-convs_r96_s7");
  EXPECT_EQ(family_of("bert[sequence=128]"), "bert");
  EXPECT_EQ(family_of("mixed-convs_r96_s7[batch=2]"), "mixed-convs_r96_s7");
}

TEST(Runs, beside_work_of_unknown_size_are_left_out) {
  const auto runs = read_runs({"t.csv",
                               "device,model,background,device_load_percent,execution_seconds\n"
                               "pi,a,idle,,1\npi,a,1x50%,,2\npi,a,1x50%,50,3\n"});
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->runs.size(), 2U);
  EXPECT_EQ(runs->runs[0].load, 0);
  EXPECT_EQ(runs->runs[1].seconds, 3);
}

TEST(Runs, of_a_table_may_all_be_refused) {
  const auto runs = read_runs({"t.csv",
                               "device,engine,model,status,error,execution_seconds\n"
                               "pi,ort,a-1,refused,no LSTM,\n"});
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_TRUE(runs->runs.empty());
  EXPECT_EQ(runs->refused.size(), 1U);
}

TEST(Runs, refused_ones_are_named_and_not_learned_from) {
  const auto runs = read_runs({"t.csv",
                               "device,engine,model,status,error,execution_seconds,outlier\n"
                               "pi,ort,a-1,ok,,0.5,1\n"
                               "pi,ort,b-1,refused,no LSTM,,\n"});
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->runs.size(), 1U);
  EXPECT_TRUE(runs->runs[0].outlier);
  EXPECT_EQ(runs->models[0].family, "a");
  ASSERT_EQ(runs->refused.size(), 1U);
  EXPECT_EQ(runs->refused[0].model, "b-1");
  EXPECT_EQ(runs->refused[0].error, "no LSTM");
}

TEST(Runs, wrong_cells_are_named_by_file_and_line) {
  EXPECT_EQ(error_of("a,b\n1,2\n"),
            "t.csv: has no column \"execution_seconds\" or \"execution_time\"; say with --mapping "
            "what its columns are");
  EXPECT_EQ(error_of("execution_seconds\n1\n"), "t.csv: has no column \"device\"");
  EXPECT_EQ(error_of("device,execution_seconds\npi,1\npi,0\n"),
            "t.csv:3: execution_seconds: \"0\" is no time above zero");
  EXPECT_EQ(error_of("device,execution_seconds,conv_layers\npi,1,-2\n"),
            "t.csv:2: conv_layers: \"-2\" is no number of at least 0");
  EXPECT_EQ(error_of("device,execution_seconds\n,1\n"), "t.csv:2: the device has no name");
  EXPECT_EQ(error_of("device,execution_seconds\n"), "t.csv: no run is left to learn from");
}

TEST(Runs, a_mapping_says_what_columns_are) {
  const auto mapping = read_mapping("m.yaml",
                                    "time: {column: ms, unit: ms}\ntask: [board, kit, precision]\n"
                                    "device: board\nmodel: net\nonly: {ok: \"1\"}\n"
                                    "columns: {total_parameters: params, engine: kit}\n");
  ASSERT_TRUE(mapping) << mapping.error().message;
  const auto runs = read_runs({"t.csv",
                               "board,kit,precision,net,params,ms,ok\n"
                               "pi,tflite,int8,a,7,20,1\npi,tflite,int8,a,7,bad,0\n"},
                              &*mapping);
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->runs.size(), 1U);
  EXPECT_EQ(runs->runs[0].seconds, 0.02);
  EXPECT_EQ(runs->tasks[0].device, "pi");
  EXPECT_EQ(runs->tasks[0].engine, "tflite");
  EXPECT_EQ(runs->tasks[0].precision, "int8");
  EXPECT_EQ(runs->models[0].counts.total_parameters, 7);
  const auto without =
      read_runs({"t.csv", "board,kit,precision,net,ms\npi,k,int8,a,1\n"}, &*mapping);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().message, "t.csv: has no column \"ok\"");
}

TEST(Runs, the_same_ones_are_added_once) {
  const std::string text = "device,model,execution_seconds\npi,a,1\npi,b,2\n";
  auto runs = *read_runs({"t.csv", text});
  EXPECT_EQ(add_runs(runs, *read_runs({"t.csv", text})), 0U);
  EXPECT_EQ(add_runs(runs, *read_runs({"u.csv", text + "pc,b,3\n"})), 1U);
  EXPECT_EQ(runs.runs.size(), 3U);
  EXPECT_EQ(runs.models.size(), 2U);
  EXPECT_EQ(runs.tasks.size(), 2U);
}

TEST(Runs, a_devices_figures_are_put_beside_its_runs) {
  auto runs = *read_runs({"t.csv", "device,device_cpu_cores,execution_seconds\npi,4,1\n"});
  Device device;
  device.name = "pi";
  device.figures["bandwidth"] = 5;
  add_device(runs, device);
  ASSERT_EQ(runs.devices.size(), 1U);
  EXPECT_EQ(runs.devices[0].cores, 4);
  EXPECT_EQ(runs.devices[0].figures["bandwidth"], 5);
}

}  // namespace
}  // namespace assay::predict
