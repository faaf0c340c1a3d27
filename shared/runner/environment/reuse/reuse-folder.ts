/** Name of the folder of environments for all projects beside those of projects, whose ids begin with no dot. */
export const reuseFolder = '.shared';
