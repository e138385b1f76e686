// Writes what LLVM's Hexagon tables say of every instruction, as lines of tab-separated fields.
//
// Each line is: version, opcode, whether it is alone in its packet, assembly text, stages, operands.
// The text is that of the disassembler, with a register of its own for each operand. A stage is the
// mask of the units of which the instruction takes one. An operand is `d` (written) or `u` (read),
// the name of its register in the text, and the clock, or - where the table has none; `D` and `U`
// are registers that the text may not name.
//
// Build: g++ -O1 -std=c++17 itineraries.cpp -I$(llvm-config-19 --includedir) -lLLVM-19
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCInstrItineraries.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <memory>
#include <set>
#include <string>
using namespace llvm;
extern "C" {
void LLVMInitializeHexagonTargetInfo();
void LLVMInitializeHexagonTarget();
void LLVMInitializeHexagonTargetMC();
}
int main(int argc, char **argv) {
  LLVMInitializeHexagonTargetInfo();
  LLVMInitializeHexagonTarget();
  LLVMInitializeHexagonTargetMC();
  std::string error;
  const Target *target = TargetRegistry::lookupTarget("hexagon", error);
  if (!target) { errs() << error << "\n"; return 1; }
  std::unique_ptr<MCInstrInfo> info(target->createMCInstrInfo());
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo("hexagon"));
  std::unique_ptr<MCAsmInfo> syntax(target->createMCAsmInfo(*registers, "hexagon", MCTargetOptions()));
  std::unique_ptr<MCInstPrinter> printer(target->createMCInstPrinter(Triple("hexagon"), 0, *syntax, *info, *registers));
  unsigned bundleCode = 0;
  for (unsigned code = 0; code < info->getNumOpcodes(); ++code)
    if (info->getName(code) == "BUNDLE") bundleCode = code;
  for (int a = 1; a < argc; ++a) {
    std::string version = argv[a], cpu = "hexagonv" + version;
    std::string features = "+hvxv" + version + ",+hvx-length128b,+hvx-qfloat,+hvx-ieee-fp,+zreg,+audio,+cabac";
    std::unique_ptr<MCSubtargetInfo> sub(target->createMCSubtargetInfo("hexagon", cpu, features));
    MCContext context(Triple("hexagon"), syntax.get(), registers.get(), sub.get());
    InstrItineraryData table = sub->getInstrItineraryForCPU(cpu);
    for (unsigned code = 0; code < info->getNumOpcodes(); ++code) {
      const MCInstrDesc &desc = info->get(code);
      StringRef name = info->getName(code);
      unsigned group = desc.getSchedClass();
      if (desc.isPseudo() || name.starts_with("Duplex") || table.isEndMarker(group)) continue;
      MCInst inst;
      inst.setOpcode(code);
      std::set<MCPhysReg> taken;
      bool known = true;
      for (unsigned o = 0; o < desc.getNumOperands(); ++o) {
        const MCOperandInfo &operand = desc.operands()[o];
        int tied = desc.getOperandConstraint(o, MCOI::TIED_TO);
        if (tied >= 0) { inst.addOperand(inst.getOperand(tied)); continue; }
        if (operand.RegClass < 0) {
          inst.addOperand(MCOperand::createExpr(MCConstantExpr::create(0, context)));
          continue;
        }
        const MCRegisterClass &kind = registers->getRegClass(operand.RegClass);
        MCPhysReg chosen = 0;
        for (MCPhysReg r : kind) {
          bool free = true;
          for (MCPhysReg t : taken) free &= !registers->regsOverlap(r, t);
          if (free) { chosen = r; break; }
        }
        if (!chosen) { known = false; break; }
        taken.insert(chosen);
        inst.addOperand(MCOperand::createReg(chosen));
      }
      if (!known) { continue; }
      MCInst bundle;
      bundle.setOpcode(bundleCode);
      bundle.addOperand(MCOperand::createImm(0));
      bundle.addOperand(MCOperand::createInst(&inst));
      std::string text;
      raw_string_ostream out(text);
      printer->printInst(&bundle, 0, "", *sub, out);
      out.flush();
      while (!text.empty() && isspace(text.back())) text.pop_back();
      outs() << version << "\t" << name << "\t" << (desc.TSFlags >> 7 & 1) << "\t" << StringRef(text).trim() << "\t";
      bool first = true;
      for (auto *s = table.beginStage(group), *e = table.endStage(group); s != e; ++s) {
        outs() << (first ? "" : " ") << format_hex_no_prefix(s->getUnits(), 1);
        first = false;
      }
      outs() << "\t";
      first = true;
      for (unsigned o = 0; o < desc.getNumOperands(); ++o) {
        if (!inst.getOperand(o).isReg()) continue;
        auto clock = table.getOperandCycle(group, o);
        outs() << (first ? "" : " ") << (o < desc.getNumDefs() ? "d" : "u");
        std::string reg;
        raw_string_ostream regOut(reg);
        printer->printRegName(regOut, inst.getOperand(o).getReg());
        regOut.flush();
        outs() << reg << "=";
        if (clock) outs() << *clock; else outs() << "-";
        first = false;
      }
      for (auto r : desc.implicit_defs()) outs() << " D" << registers->getName(r);
      for (auto r : desc.implicit_uses()) outs() << " U" << registers->getName(r);
      outs() << "\n";
    }
  }
}
