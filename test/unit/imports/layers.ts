/**
 * The rooms of the house, from the bottom up. A module imports modules of its own room and of rooms on lower lines;
 * rooms on one line do not know each other.
 */
export const layers: readonly (readonly string[])[] = [
  ['shared/core', 'shared/command', 'shared/svg', 'shared/process', 'shared/archive', 'shared/config-file'],
  ['shared/aws', 'shared/config-graph', 'shared/metric-chart', 'shared/worker-thread', 'shared/onnx'],
  ['shared/data'],
  ['shared/accounts', 'shared/http', 'shared/jobs', 'shared/models', 'shared/pictures', 'shared/task'],
  ['shared/client', 'shared/purge', 'shared/runner'],
  [
    'functions/admin',
    'functions/auth',
    'functions/events',
    'functions/experiments',
    'functions/jobs',
    'functions/service',
    'functions/users',
  ],
  ['functions/projects'],
  ['functions/optimization/models'],
  ['functions/optimization/strategies'],
  ['cli', 'infra'],
  ['test'],
];
