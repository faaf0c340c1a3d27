// Put before a program by `node --import`, or imported first by a program of the tests: what its plan says goes wrong.
// No program of the service knows of it, and no bundle of the service holds it.
import { Injector } from './middleware.ts';
import { readPlan } from './plan.ts';

const plan = readPlan(process.env);
if (plan !== undefined) {
  new Injector(plan).install();
  if (plan.hurry !== 1) hurry(plan.hurry);
}

function hurry(times: number): void {
  const { setInterval } = globalThis;
  const faster = (act: () => void, milliseconds = 0, ...rest: []) =>
    setInterval(act, milliseconds >= 10_000 ? milliseconds / times : milliseconds, ...rest);
  globalThis.setInterval = Object.assign(faster, setInterval) as typeof setInterval;
}
