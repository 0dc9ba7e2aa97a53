import { type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import type { SearchAttributeType } from '@temporalio/common';
import { grpcCode } from '../grpc-code.ts';
import { orderSearchAttributes } from '../orders/search-attributes.ts';

/** What is asked of a connection here: a client's, a worker's and a test environment's all have it. */
export type TemporalServices = Pick<ConnectionLike, 'workflowService' | 'operatorService'>;

/** The server's numbers (`temporal.api.enums.v1.IndexedValueType`) of the types. */
export const indexedValueType: Record<SearchAttributeType, number> = {
  TEXT: 1,
  KEYWORD: 2,
  INT: 3,
  DOUBLE: 4,
  BOOL: 5,
  DATETIME: 6,
  KEYWORD_LIST: 7,
};

function isRefusal(error: unknown, ...codes: number[]): boolean {
  return isGrpcServiceError(error) && codes.includes(error.code);
}

/**
 * The names of the search attributes of orders that the namespace lacks or has with another type. A worker must not
 * start while there is one: an unregistered attribute fails every order's first task again and again.
 *
 * @throws the connection's error when the server can't be asked
 */
export async function missingSearchAttributes(
  connection: TemporalServices,
  namespace: string,
): Promise<string[]> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return orderSearchAttributes
      .filter(({ name, type }) => customAttributes[name] !== indexedValueType[type])
      .map(({ name }) => name);
  } catch (error) {
    // Temporal Cloud has no operator service; there a query by the attribute tells.
    if (!isRefusal(error, grpcCode.unimplemented, grpcCode.permissionDenied)) throw error;
  }
  const missing: string[] = [];
  for (const { name } of orderSearchAttributes) {
    if (!(await canBeQueried(connection, namespace, name))) missing.push(name);
  }
  return missing;
}

async function canBeQueried(connection: TemporalServices, namespace: string, name: string): Promise<boolean> {
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} is null` });
    return true;
  } catch (error) {
    if (isRefusal(error, grpcCode.invalidArgument)) return false;
    throw error;
  }
}
