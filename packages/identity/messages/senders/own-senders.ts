import type { MessageSender } from '../sender.ts';
import { aliyunSender } from './aliyun-sender.ts';
import { logSender, testSender } from './log-sender.ts';
import { tencentSender } from './tencent-sender.ts';
import { webhookSender } from './webhook-sender.ts';

/** The senders of this package. Other packages add their senders to `messageSenders`. */
export const ownSenders: readonly MessageSender[] = [testSender, logSender, webhookSender, aliyunSender, tencentSender];
