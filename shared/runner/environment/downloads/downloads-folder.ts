/** Name of the folder of downloads beside those of projects, whose ids begin with no dot. */
export const downloadsFolder = '.downloads';
