import { newId } from '../../../shared/core/new-id.ts';
import type { TokenScope } from '../../../shared/data/accounts/token-scope.ts';
import type { Person } from './people.ts';

/**
 * What a token with a scope may ask, by the row of the access table: the right that it needs, and how the answer keeps to
 * the projects of a scope. No other row, save for what is the same for everybody.
 * - `path`: the project is in the path or the query.
 * - `lists`: the answer leaves out what is of other projects.
 * - `free`: it is about what belongs to no project, so a scope with projects is refused.
 */
type Keeping = 'path' | 'lists' | 'free';
type Row = readonly [right: TokenScope['rights'], keeping: Keeping];

const rows = (row: Row, names: string): [string, Row][] =>
  names
    .split('\n')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => [name, row]);

export const scopeTable: Readonly<Record<string, Row>> = Object.fromEntries([
  ...rows(
    ['read', 'path'],
    `
    readProject
    readProjectBudget
    listConfigs
    readConfig
    readConfigGraph
    readExperimentConfig
    readExperimentConfigGraph
    readEnvironment
    listVariables
    readVariable
    readSource
    downloadSource
    listDatasets
    downloadDataset
    estimateTraining
    listSweeps
    readSweep
    listTrials
    listReports
    readReport
    readReportBlock
    listSchedules
    readSchedule
    listExperiments
    readExperiment
    readExperimentBudget
    readExperimentLogs
    readExperimentMetrics
    listArtifacts
    listLiveExperiments
    readLiveExperiment
    downloadArtifact
    listMedia
    readArtifacts
    compareExperiments
    searchExperiments
    serveMlflow, reading an experiment`,
  ),
  ...rows(
    ['read', 'lists'],
    `
    listTokens
    listProjects
    listCriteria
    listModels
    listPruneMethods
    listQuantizeMethods
    listPruneStrategies
    listQuantizeStrategies
    serveModels, whether it lives
    serveModels, listing the served models`,
  ),
  ...rows(
    ['read', 'free'],
    `
    readModel
    readServing
    readPruneStrategy
    readQuantizeStrategy
    readPruneLogs
    readQuantizeLogs
    downloadPrunedModel
    downloadQuantizedModel
    serveModels, reading a served model`,
  ),
  ...rows(
    ['record', 'path'],
    `
    createExperiment
    updateExperiment
    logExperimentParams
    logExperimentMetrics
    requestArtifactUpload
    putArtifact
    serveMlflow, creating a run`,
  ),
  ...rows(
    ['record', 'free'],
    `
    createProject
    serveMlflow, creating an experiment`,
  ),
  ...rows(
    ['run', 'path'],
    `
    trainProject
    trainProjectRemote
    rerunExperiment
    cancelExperiment
    cancelExperiments
    checkTraining
    checkExport
    createExport
    createSweep
    estimateSweep
    createTrial
    pauseSweep
    resumeSweep
    retrySweep
    cancelSweep
    createSchedule
    pauseSchedule
    resumeSchedule
    runSchedule
    updateSchedule
    putConfig
    putEnvironment
    requestSourceUpload
    putSource
    requestDatasetUpload
    putDataset`,
  ),
  ...rows(
    ['run', 'free'],
    `
    createModel
    createPruneStrategy
    createQuantizeStrategy
    cancelPruneStrategy
    cancelQuantizeStrategy`,
  ),
]);

const rights = ['read', 'record', 'run'] as const;

/** The scopes of the table, by name: each right on all projects, an own one, another user's, and one that is deleted. */
export function scopesOf(own: Person, other: Person): Record<string, TokenScope> {
  const projects = { all: null, own: [own.project_id], "other's": [other.project_id], deleted: [newId()] };
  return Object.fromEntries(
    rights.flatMap((right) =>
      Object.entries(projects).map(([whose, ids]) => [`${right} ${whose}`, { rights: right, projects: ids }]),
    ),
  );
}

/** Whether a token of this scope may ask for a row about the own project. */
export function isInScope(row: string, scope: TokenScope, own: Person): boolean {
  const [right, keeping] = scopeTable[row] ?? [];
  if (right === undefined || rights.indexOf(scope.rights) < rights.indexOf(right)) return false;
  if (scope.projects === null || keeping === 'lists') return true;
  return keeping === 'path' && scope.projects.includes(own.project_id);
}
