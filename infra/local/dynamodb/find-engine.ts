import { createRequire } from 'node:module';

/** The embedded engine's program. @throws Error on platforms that it does not serve */
export function findEngine(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${platform}/dynoxide`);
  } catch {
    throw new Error(
      `There is no embedded DynamoDB engine for ${platform}. Run another one (Amazon's DynamoDB Local, say) and name it in DYNAMODB_ENDPOINT.`,
    );
  }
}
