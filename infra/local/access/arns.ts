export const bucketArn = (name: string): string => `arn:aws:s3:::${name}`;
export const tableArn = (name: string): string => `arn:aws:dynamodb:*:*:table/${name}`;
