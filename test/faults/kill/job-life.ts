import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { endpoint as cancel } from '../../../functions/experiments/cancel-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/train-project.endpoint.ts';
import { type Experiment, listExperiments } from '../../../shared/data/experiment.ts';
import { taskHandler } from '../../../shared/endpoint/task.ts';
import { isFinal } from '../../../shared/jobs/status.ts';
import { writePlan } from '../injection/plan.ts';
import { ask } from '../world/ask.ts';
import { pass } from '../world/pass.ts';
import { startProgram } from '../world/process.ts';
import { archiveOf, newProject } from '../world/project.ts';
import { newDeveloper, newService, removeService, type Service } from '../world/service.ts';
import type { Life, Role, Scenario, Strike } from './job-strike.ts';
import { judgeLife } from './judge-life.ts';
import { definitions, type Lane } from './lane.ts';
import { shareOf } from './share-of.ts';

/** What the training does: it says that it ran, writes all kinds of output, and takes its time. */
const script = `echo "$EXPERIMENT_ID" >> "$1"
echo began
echo '{"name":"accuracy","value":0.5,"step":1}' >> "$METRICS_FILE"
echo state > "$CHECKPOINT_DIR/last.bin"
echo weights > "$OUTPUT_DIR/model.bin"
echo table > "$OUTPUT_DIR/table.csv"
sleep "$2"
echo '{"name":"accuracy","value":0.9,"step":2}' >> "$METRICS_FILE"
echo done
`;
const source = archiveOf(script);

/** Lives the life of one job in which `strike` kills one process, or none; and has two passes put right what is left. */
export async function liveJob(lane: Lane, scenario: Scenario, strike?: Strike): Promise<Life> {
  const folder = await mkdtemp(join(lane.folder, 'life-'));
  await chmod(folder, 0o711);
  const witness = join(folder, 'ran');
  const trace = join(folder, 'trace');
  for (const file of [witness, trace]) await writeFile(file, '');
  await chmod(witness, 0o666);
  const service = await newService(lane.engines, lane.batchUrl);
  try {
    const { token } = await newDeveloper(service);
    const seconds = scenario === 'cancelled' ? 1 : 0.05;
    const project_id = await newProject(service, token, `sh train.sh ${witness} ${seconds}`, await source);
    const neighbour_id = await newProject(service, token, 'true');
    const life = new JobLife(lane, service, { scenario, strike, trace, token, project_id });
    const neighbour = shareOf(await service.inventory(), [neighbour_id]).join();
    const experiment = await life.run();
    const inventory = await service.inventory();
    const faults = judgeLife({
      inventory,
      experiment,
      scenario,
      strike: life.isHit ? strike : undefined,
      isAcknowledged: life.isAcknowledged,
      runs: (await readFile(witness, 'utf8')).split('\n').length - 1,
    });
    if (shareOf(inventory, [neighbour_id]).join() !== neighbour) faults.push('a neighbour was touched');
    const calls = (await readFile(trace, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    return {
      isHit: life.isHit,
      faults: [...life.faults, ...faults],
      calls,
      status: experiment?.status ?? 'none',
    };
  } finally {
    lane.setDeliver(async () => undefined);
    await removeService(service);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** Whether an event tells of an attempt that was killed. */
function wasKilled(event: unknown): boolean {
  const { attempts } = (event as { detail: { attempts: { container?: { exitCode?: number } }[] } }).detail;
  return attempts.some(({ container }) => container?.exitCode === 137);
}

interface Circumstances {
  scenario: Scenario;
  strike: Strike | undefined;
  trace: string;
  token: string;
  project_id: string;
}

class JobLife {
  isHit = false;
  isAcknowledged = false;
  readonly faults: string[] = [];
  readonly #lane: Lane;
  readonly #service: Service;
  readonly #given: Circumstances;
  #events = 0;

  constructor(lane: Lane, service: Service, given: Circumstances) {
    this.#lane = lane;
    this.#service = service;
    this.#given = given;
  }

  async run(): Promise<Experiment | undefined> {
    const { environment } = this.#service;
    const { scenario, token, project_id } = this.#given;
    environment['TRAIN_DEFINITION'] = scenario === 'again' ? definitions.again : definitions.once;
    this.#service.settings.train.definition = environment['TRAIN_DEFINITION'];
    this.#prepareContainers();
    this.#lane.setDeliver((event) => this.#deliver(event));
    const question = { path: { project_id }, query: { config: 'train.yaml' }, token };
    // Nothing listens there.
    const away = scenario === 'late' ? { BATCH_ENDPOINT: 'http://127.0.0.1:9' } : {};
    this.isAcknowledged = await this.#ask('train', train, question, { ...environment, ...away });
    const begun = await this.#experiment();
    if (begun === undefined) return undefined;
    if (scenario === 'cancelled') await this.#cancel(begun);
    else await this.#quiet(begun);
    if (scenario === 'late') await this.#pass(60);
    for (const seconds of [120, 240]) {
      await pass(this.#service, seconds);
      await this.#quiet(begun);
    }
    return this.#experiment();
  }

  /** Does it in a process of its own where that is to be killed or traced; true when it succeeded. */
  async #ask(
    role: 'train' | 'cancel',
    endpoint: typeof train | typeof cancel,
    question: Parameters<typeof ask>[2],
    environment: Record<string, string>,
  ): Promise<boolean> {
    if (!this.#isObserved(role)) return (await ask(endpoint, environment, question)).status < 300;
    return this.#process(role, question, environment);
  }

  async #pass(seconds: number): Promise<void> {
    if (this.#isObserved('pass')) await this.#process('pass', { seconds }, this.#service.environment);
    else await pass(this.#service, seconds);
  }

  #isObserved(role: Role): boolean {
    const { strike } = this.#given;
    return strike === undefined || strike.role === role;
  }

  async #process(role: Role, given: unknown, environment: Record<string, string>): Promise<boolean> {
    const { strike, trace } = this.#given;
    const kill =
      strike?.role === role ? { at: strike.at, when: strike.when, signal: 'SIGKILL' as const } : undefined;
    const name = role === 'event' ? `event ${this.#events - 1}` : role;
    const plan = { trace, role: name, ...(kill !== undefined && { kill }) };
    const { ended } = startProgram(this.#lane.program, role, given, environment, plan);
    const { code, signal, errors } = await ended;
    if (signal === 'SIGKILL') this.isHit = true;
    else if (code !== 0) this.faults.push(`${role} ended with ${code}: ${errors}`);
    return code === 0;
  }

  #prepareContainers(): void {
    const { hostEnvironment, program, folder } = this.#lane;
    const { strike, trace } = this.#given;
    const kill = strike?.role === 'container' ? { at: strike.at, when: strike.when } : undefined;
    const { ACCOUNTS_TABLE: _, ...environment } = this.#service.environment;
    const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
    Object.assign(hostEnvironment, environment, {
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
      WORK_DIR: join(folder, 'work'),
      ENVIRONMENTS_DIR: join(folder, 'environments'),
      NODE_COMPILE_CACHE: program.cache,
      ...writePlan({ role: 'container', trace, hurry: 100, ...(kill !== undefined && { kill }) }),
    });
  }

  async #deliver(event: unknown): Promise<void> {
    const { strike, trace } = this.#given;
    // The first container alone is killed; the next attempt is to live.
    if (strike?.role === 'container' && wasKilled(event)) {
      this.isHit = true;
      Object.assign(this.#lane.hostEnvironment, writePlan({ role: 'again', trace, hurry: 100 }));
    }
    const index = this.#events;
    this.#events += 1;
    const isStruck = strike?.role === 'event' && strike.event === index;
    if (strike !== undefined && !isStruck)
      return taskHandler(jobStateChanged, this.#service.environment)(event);
    const done = await this.#process('event', event, this.#service.environment);
    if (!done && strike?.isLost !== true) {
      // It comes again, to a process that lives.
      return taskHandler(jobStateChanged, this.#service.environment)(event);
    }
  }

  async #experiment(): Promise<Experiment | undefined> {
    const { items } = await listExperiments(this.#service.records, this.#given.project_id, {});
    if (items.length > 1) this.faults.push(`${items.length} experiments were made by one request`);
    return items[0];
  }

  async #cancel(begun: Experiment): Promise<void> {
    const { project_id, token } = this.#given;
    for (;;) {
      const present = await this.#experiment();
      if (present === undefined || isFinal(present.status)) return;
      if (present.status === 'RUNNING' && present.status_reason === null) break;
      if (await this.#isOver(begun)) return;
      await sleep(15);
    }
    const path = { project_id, experiment_id: begun.experiment_id };
    await this.#ask('cancel', cancel, { path, token }, this.#service.environment);
  }

  async #isOver({ experiment_id }: Experiment): Promise<boolean> {
    const { batch, settings } = this.#service;
    const id = await batch.findByName(settings.train.queue, `train-${experiment_id}`);
    if (id === undefined) return true;
    const [job] = await batch.describe([id]);
    const isEnded = job?.status === 'SUCCEEDED' || job?.status === 'FAILED';
    return isEnded && this.#lane.hasHeardTheEnd(id);
  }

  /** Waits until Batch has nothing to do for the job any more, and has told so. */
  async #quiet(experiment: Experiment): Promise<void> {
    while (!(await this.#isOver(experiment))) await sleep(15);
  }
}
