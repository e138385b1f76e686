"""Profiles of a small network, written as the tools of phones write them."""

_UNITS = "avg (us),max (us),min (us),runtime"

BENCHMARK = f"""\
SNPE SDK version:,1.63.0.3523

Configuration used:
Name,small
PerfProfile,burst
ProfilingLevel,detailed

Device Info:
OS_Type,linux

,, ,CPU_timing(2 runs),,,,DSP_timing(2 runs),,,,DSP_ub_tf8_timing(2 runs),,,
,, ,{_UNITS},{_UNITS},{_UNITS}
,,Init,900,910,890,CPU,800,800,800,CPU,800,800,800,CPU
,,Total Inference Time,700,710,690,CPU,300,310,290,CPU|DSP,250,250,250,CPU|DSP
,,Forward Propagate,600,610,590,CPU,200,210,190,CPU|DSP,200,200,200,CPU|DSP
,,layer_000 (Name:x Type:data),9,9,9,CPU,8,8,8,DSP,7,7,7,DSP
,,layer_001 (Name:/block.0/conv/Conv Type:convolutional),400,410,390,CPU,0,0,0,DSP,0,0,0,DSP
,,layer_002 (Name:act Type:neuron),50,50,50,CPU,120,125,116,DSP,100,100,100,DSP
,,layer_003 (Name:pool Type:pooling),30,30,30,CPU,20,22,18,DSP,19,19,19,DSP
,,layer_004 (unknown),5,5,5,CPU,4,4,4,DSP, , , ,
"""

DIAGVIEW = """\
Log File Created: Mon Nov  2 10:11:12 2026
Time Scale: 1e-06
Software library version: 1.59.0.3230

Dnn Runtime Load/Deserialize/Create/De-Init Statistics:
--------------------------------------------------
Load: 149 us
Init: 4885 us

Average SNPE Statistics:
------------------------------
Total Inference Time: 300 us
Forward Propagate Time: 200 us
Accelerator Time: 150 us

Layer Times:
---------------
0: 8 us : DSP
1: 0 us : DSP
2: 120 us : DSP
3: 20 us : DSP

Convert Times:
---------------
0-1: pool: 7 us
"""

DIAGVIEW_2 = """\
Interpreting file serialized with Flatbuffer
Software library version: 2.37.0
SNPE Execute Statistics (Averaged):
------------------------------
Total Inference Time: 300 us
Accelerator Time: 150 us

Per-Layer Execution Times:
------------------------------
0: Input OpId_2 (cycles) : 1000 cycles : DSP
1: _block_0_conv_Conv:OpId_18 (cycles) : 8000 cycles : DSP
2: pool:OpId_19 (cycles) : 3000 cycles : DSP
"""

QNN = """\
Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier
1,INIT,5000,US,BACKEND,ROOT,QNN (load binary) time
2,EXECUTE,4,COUNT,BACKEND,ROOT,Number of HVX threads used
2,EXECUTE,12000,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)
2,EXECUTE,120,US,BACKEND,ROOT,Accelerator (execute) time
2,NODE,8000,CYCLES,BACKEND,SUB-EVENT,_block_0_conv_Conv:OpId_18 (cycles)
2,NODE,3000,CYCLES,BACKEND,SUB-EVENT,pool:OpId_19 (cycles)
3,EXECUTE,12000,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)
3,EXECUTE,120,US,BACKEND,ROOT,Accelerator (execute) time
3,NODE,10000,CYCLES,BACKEND,SUB-EVENT,_block_0_conv_Conv:OpId_18 (cycles)
3,NODE,3000,CYCLES,BACKEND,SUB-EVENT,pool:OpId_19 (cycles)
"""

AI_HUB = """\
{"execution_summary": {"estimated_inference_time": 140, "all_inference_times": [140, 150]},
 "execution_detail": [
  {"name": "_block_0_conv_Conv", "type": "Conv2d", "compute_unit": "NPU", "execution_time": 90,
   "execution_cycles": 9000},
  {"name": "pool", "type": "PoolMax2d", "compute_unit": "NPU", "execution_time": 30,
   "execution_cycles": 3000}]}
"""

FILES = {
    "bench.csv": BENCHMARK,
    "diag.txt": DIAGVIEW,
    "diag2.txt": DIAGVIEW_2,
    "qnn.csv": QNN,
    "hub.json": AI_HUB,
}
