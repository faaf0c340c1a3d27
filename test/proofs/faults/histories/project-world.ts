import { type Apply, looking } from './linearize.ts';

type Phase = 'unfinished' | 'cancelling' | 'cancelled' | 'deleted';

/** A project with all that is in it. */
export interface ProjectState {
  /** It is, or was, there. */
  isMade: boolean;
  project: { name: string; version: number } | null;
  /** By file name; `text` is the file. */
  configs: Readonly<Record<string, { version: number; text: string }>>;
  /** Last version that was deleted of each name: the next one of it goes on from there. */
  deletedConfigs: Readonly<Record<string, number>>;
  /** By id, also those that were deleted. */
  experiments: Readonly<Record<string, Phase>>;
}

export const noProject: ProjectState = {
  isMade: false,
  project: null,
  configs: {},
  deletedConfigs: {},
  experiments: {},
};

const check = looking<ProjectState>;

const live = ({ experiments }: ProjectState) =>
  Object.values(experiments).filter((phase) => phase !== 'deleted').length;

export const isNoProject = check(({ project }) => project === null);
export const isNamed = (name: string) => check(({ project }) => project?.name === name);
/** Counters stay for a moment after their project. */
export const counts = (configs: number, experiments: number) =>
  check(
    (state) =>
      (Object.keys(state.configs).length === configs && live(state) === experiments) ||
      (state.project === null && configs === 0 && experiments === 0),
  );
export const hasOtherVersion = (version: number) =>
  check(({ project }) => project !== null && project.version !== version);

/** The same key makes it once, and answers it ever after. */
export const madeOnce =
  (name: string): Apply<ProjectState> =>
  (state) =>
    state.isMade ? state : { ...state, isMade: true, project: { name, version: 1 } };

export const renamed =
  (name: string, version: number | undefined): Apply<ProjectState> =>
  (state) => {
    const { project } = state;
    if (project === null || (version !== undefined && project.version !== version)) return undefined;
    return { ...state, project: { name, version: project.version + 1 } };
  };

/** Everything in it is gone with it. */
export const removed =
  (version: number | undefined): Apply<ProjectState> =>
  (state) => {
    const { project } = state;
    if (project === null || (version !== undefined && project.version !== version)) return undefined;
    const ids = Object.keys(state.experiments);
    return {
      ...state,
      project: null,
      configs: {},
      experiments: Object.fromEntries(ids.map((id) => [id, 'deleted'])),
    };
  };

export const isNoConfig = (name: string) => check(({ configs }) => configs[name] === undefined);
export const isConfig = (name: string, version: number, text?: string) =>
  check(({ configs }) => {
    const config = configs[name];
    return config?.version === version && (text === undefined || config.text === text);
  });
export const hasOtherConfig = (name: string, version: number) =>
  check(({ project, configs }) => project !== null && configs[name]?.version !== version);

/** The same text once more changes nothing. `ifMatch` is a version that was asked for. */
export const configPut =
  (name: string, text: string, version: number, ifMatch: number | undefined): Apply<ProjectState> =>
  (state) => {
    const present = state.configs[name];
    if (state.project === null || (ifMatch !== undefined && present?.version !== ifMatch)) return undefined;
    if (present?.text === text) return present.version === version ? state : undefined;
    if (version !== (present?.version ?? state.deletedConfigs[name] ?? 0) + 1) return undefined;
    return { ...state, configs: { ...state.configs, [name]: { version, text } } };
  };

/** `versions` are those since the name was last deleted. */
export const configDeleted =
  (name: string, versions: number, ifMatch: number | undefined): Apply<ProjectState> =>
  (state) => {
    const { [name]: present, ...configs } = state.configs;
    if (present === undefined || present.version - (state.deletedConfigs[name] ?? 0) !== versions)
      return undefined;
    if (ifMatch !== undefined && ifMatch !== present.version) return undefined;
    return { ...state, configs, deletedConfigs: { ...state.deletedConfigs, [name]: present.version } };
  };

const inPhase = (state: ProjectState, id: string, phase: Phase): ProjectState =>
  state.experiments[id] === phase ? state : { ...state, experiments: { ...state.experiments, [id]: phase } };

export const begun =
  (id: string): Apply<ProjectState> =>
  (state) =>
    state.project !== null && state.experiments[id] === undefined
      ? inPhase(state, id, 'unfinished')
      : undefined;

export const isNoExperiment = (id: string) =>
  check(({ project, experiments }) => project === null || (experiments[id] ?? 'deleted') === 'deleted');

/** Whoever asks for the cancelling of one that has ended, or is gone, changes nothing. */
export const cancelRequested =
  (id: string): Apply<ProjectState> =>
  (state) =>
    state.experiments[id] === 'unfinished' ? inPhase(state, id, 'cancelling') : state;

/** No job of a history runs, so that nothing but a cancelling ends one; it ends at some moment after that. */
export const hasStatus =
  (id: string, status: string): Apply<ProjectState> =>
  (state) => {
    const phase = state.experiments[id];
    const isEnded = ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);
    if (!isEnded) return phase === 'unfinished' || phase === 'cancelling' ? state : undefined;
    if (status !== 'CANCELLED' || (phase !== 'cancelling' && phase !== 'cancelled')) return undefined;
    return inPhase(state, id, 'cancelled');
  };

export const isUnfinished = (id: string) =>
  check(({ experiments }) => experiments[id] === 'unfinished' || experiments[id] === 'cancelling');

export const experimentDeleted =
  (id: string): Apply<ProjectState> =>
  (state) => {
    const phase = state.experiments[id];
    return phase === 'cancelling' || phase === 'cancelled' ? inPhase(state, id, 'deleted') : undefined;
  };
