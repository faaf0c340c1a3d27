/** A mask, and what it makes of the first project of projects.json: the part that it shows, or its 400 message. */
export type MaskCase = readonly [mask: string, shows: Readonly<Record<string, unknown>> | string];

const comma = 'Mask parse error: Unexpected comma';
const opening = 'Mask parse error: Unexpected opening bracket';
const closing = 'Mask parse error: Unexpected closing bracket';
const missing = 'Mask parse error: Missing closing bracket';
const inconsistent = 'Mask error: Mask is inconsistent with model';

const p1 = { project_id: 'p1' };
const both = { project_id: 'p1', project_name: 'digits' };
const counts = { configs: 2, experiments: 3 };
const latestBest = { criterion: 'accuracy', value: 0.5, step: null };
const experimentBest = { criterion: 'loss', value: 0.25, step: 9 };
const latest = { experiment_id: 'e2', status: 'RUNNING', duration: null, tags: [], best: latestBest };
const experiments = [
  { experiment_id: 'e1', status: 'FAILED', duration: 1.5, tags: ['x'], best: experimentBest },
  { experiment_id: 'e2', status: 'CREATED', duration: null, tags: [], best: null },
];
const curves = [
  [
    { criterion: 'loss', value: 2, step: 1 },
    { criterion: 'loss', value: 3, step: null },
  ],
  [],
];
const attributes = { rate: 0.1, layers: [{ size: 3, name: 'in' }, { size: 5 }], note: null };
const whole = {
  project_id: 'p1',
  project_name: 'digits',
  description: null,
  owner: null,
  'lock-hash': 'ab12',
  'x:score': 7,
  tags: ['vision', 'small'],
  counts,
  latest,
  environment: null,
  experiments,
  curves,
  attributes,
};

const names: readonly MaskCase[] = [
  ['project_id', p1],
  ['{project_id}', p1],
  ['project_id,project_name', both],
  ['{project_id,project_name}', both],
  ['{ project_id , project_name }', both],
  [' {project_id} ', p1],
  ['\tproject_id\t,\tproject_name', both],
  ['project_id project_name', both],
  ['project_id;project_name', both],
  ['project_id.project_name', both],
  ['"project_id"', p1],
  ['$.project_id', p1],
  ['project_id,', p1],
  ['{project_id,}', p1],
  ['project_id, ', p1],
  ['project_id,project_id', p1],
  ['lock-hash', { 'lock-hash': 'ab12' }],
  ['x:score', { 'x:score': 7 }],
  ['tags', { tags: ['vision', 'small'] }],
  ['counts', { counts }],
  ['latest', { latest }],
  ['experiments', { experiments }],
  ['curves', { curves }],
  ['attributes', { attributes }],
];

const absentAndUnknown: readonly MaskCase[] = [
  ['description', { description: null }],
  ['owner', { owner: null }],
  ['environment', { environment: null }],
  ['environment{env_type}', { environment: null }],
  ['nothing', {}],
  ['project_id,nothing', p1],
  ['nothing{project_id}', {}],
  ['nothing{deep{deeper}},project_id', p1],
  ['Project_ID', {}],
  ['project_idé', {}],
  ['project_id×project_name', both],
  ['counts{nothing}', { counts: {} }],
  ['__proto__', {}],
  ['constructor,toString,project_id', p1],
  ['__proto__{project_id}', {}],
  ['0', {}],
  ['length', {}],
  [';', {}],
  ['{}', {}],
  ['{ }', {}],
];

const nested: readonly MaskCase[] = [
  ['counts{configs}', { counts: { configs: 2 } }],
  ['{counts{configs}}', { counts: { configs: 2 } }],
  ['counts {configs}', { counts: { configs: 2 } }],
  ['counts{configs,}', { counts: { configs: 2 } }],
  ['counts{experiments configs}', { counts: { experiments: 3, configs: 2 } }],
  ['counts{configs},project_id', { counts: { configs: 2 }, project_id: 'p1' }],
  ['counts{configs}project_id', { counts: { configs: 2 }, project_id: 'p1' }],
  ['project_id counts{configs}', { project_id: 'p1', counts: { configs: 2 } }],
  ['counts{}', { counts }],
  ['latest{best{value}}', { latest: { best: { value: 0.5 } } }],
  ['latest{best{step}}', { latest: { best: { step: null } } }],
  ['latest{best}', { latest: { best: latestBest } }],
  ['latest{best{}}', { latest: { best: latestBest } }],
  ['experiments{experiment_id}', { experiments: [{ experiment_id: 'e1' }, { experiment_id: 'e2' }] }],
  ['experiments{duration}', { experiments: [{ duration: 1.5 }, { duration: null }] }],
  ['experiments{best{value}}', { experiments: [{ best: { value: 0.25 } }, { best: null }] }],
  ['experiments{nothing}', { experiments: [{}, {}] }],
  ['experiments{}', { experiments }],
  ['curves{value}', { curves: [[{ value: 2 }, { value: 3 }], []] }],
  ['tags{}', { tags: ['vision', 'small'] }],
  ['attributes{rate}', { attributes: { rate: 0.1 } }],
  ['attributes{layers{size}}', { attributes: { layers: [{ size: 3 }, { size: 5 }] } }],
  ['attributes{layers{name},nothing}', { attributes: { layers: [{ name: 'in' }, {}] } }],
  ['attributes{*}', { attributes }],
  ['attributes{}', { attributes }],
];

const starsAndRepeats: readonly MaskCase[] = [
  ['*', whole],
  ['{*}', whole],
  ['*,*', whole],
  ['*{project_id}', whole],
  ['*,nothing', whole],
  ['*,nothing{x}', whole],
  ['{*,latest{status}}', { ...whole, latest: { status: 'RUNNING' } }],
  ['latest{status},*', { ...whole, latest: { status: 'RUNNING' } }],
  ['*,counts{}', whole],
  ['latest{*,best{value}}', { latest: { ...latest, best: { value: 0.5 } } }],
  ['experiments{*}', { experiments }],
  ['counts{configs},counts', { counts }],
  ['counts,counts{configs}', { counts: { configs: 2 } }],
  ['counts{configs},counts{experiments}', { counts: { experiments: 3 } }],
  ['project_id{x},project_id', p1],
  ['latest{best{value},best}', { latest: { best: latestBest } }],
  ['project*', {}],
  ['**', {}],
  ['*_id', {}],
];

const parseErrors: readonly MaskCase[] = [
  [',', comma],
  [',project_id', comma],
  ['project_id,,project_name', comma],
  ['project_id, ,project_name', comma],
  ['project_id,;,project_name', comma],
  ['{,project_id}', comma],
  ['counts{,configs}', comma],
  ['counts{configs,,experiments}', comma],
  ['{,}', comma],
  ['project_id,{project_name}', opening],
  ['counts{configs}{experiments}', opening],
  ['counts{{configs}}', opening],
  ['{{project_id}}', opening],
  ['{{}}', opening],
  [';{project_id}', opening],
  ['nothing,{', opening],
  ['}', closing],
  ['project_id}', closing],
  ['{project_id}}', closing],
  ['counts{configs}}', closing],
  ['{project_id},{project_name}', closing],
  ['{project_id}{project_name}', closing],
  ['}{', closing],
  ['{', missing],
  ['{project_id', missing],
  ['{project_id} x', missing],
  ['{project_id};', missing],
  ['counts{', missing],
  ['counts{configs', missing],
  ['{counts{configs}', missing],
  ['experiments{best{value}', missing],
];

const modelErrors: readonly MaskCase[] = [
  ['project_id{x}', inconsistent],
  ['project_id{}', inconsistent],
  ['project_id{*}', inconsistent],
  ['{project_name{x}}', inconsistent],
  ['owner{x}', inconsistent],
  ['description{x}', inconsistent],
  ['*,project_id{x}', inconsistent],
  ['project_id,project_id{x}', inconsistent],
  ['tags{x}', inconsistent],
  ['counts{configs{x}}', inconsistent],
  ['latest{best{value{x}}}', inconsistent],
  ['experiments{status{x}}', inconsistent],
  ['experiments{tags{x}}', inconsistent],
  ['environment{dependencies{x}}', inconsistent],
  ['curves{value{x}}', inconsistent],
];

/** Every rule of the mask grammar and every error. */
export const maskTable: readonly MaskCase[] = [
  ...names,
  ...absentAndUnknown,
  ...nested,
  ...starsAndRepeats,
  ...parseErrors,
  ...modelErrors,
];
