/** The number of faults that `--json` repeats. All faults are written to stderr. */
const maxRepeated = 1_000;

/** A refused line of a file. `field` is the name of its column. */
type LineFault = { readonly line: number; readonly field: string; readonly message: string };

/** Reports the refused lines of an import as they are found. `errors` has the first 1,000 for `--json`. */
export function reportFaults<Fault extends LineFault>() {
  const errors: Fault[] = [];
  return {
    errors,
    onFault(fault: Fault): void {
      if (errors.length < maxRepeated) errors.push(fault);
      process.stderr.write(`line ${fault.line}: ${fault.field}: ${fault.message}\n`);
    },
  };
}
