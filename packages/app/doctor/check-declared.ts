import { type DoctorCheck, type DoctorFacts, type Finding, findingsOf } from '@tradepost/module';

/** Runs the checks that modules declare, by area. `sort` of an area is its position. An area that was checked has at least one line. */
export async function checkDeclared(checks: readonly DoctorCheck[], facts: DoctorFacts): Promise<Finding[]> {
  const areas = [...new Map(checks.map(({ area }) => [area.name, area])).values()].sort((a, b) => a.sort - b.sort);
  const all: Finding[] = [];
  for (const area of areas) {
    if (area.applies && !area.applies(facts)) continue;
    const found = findingsOf(area.name);
    for (const { check } of checks.filter((each) => each.area.name === area.name)) await check(facts, found);
    if (area.allClear && !found.findings.some(({ level }) => level === 'error')) found.ok(area.allClear);
    if (found.findings.length === 0) found.ok('nothing to report');
    all.push(...found.findings);
  }
  return all;
}
