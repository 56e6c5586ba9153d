// biome-ignore-all lint: generated
// biome-ignore-all format: generated
// Types of the HTTP API, made from its OpenAPI document by `node packages/client/generate.ts`: not to be edited.

export interface paths {
    "/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Log in as a shopper or an administrator
         * @description Public.
         */
        post: operations["postApiAuthLogin"];
    };
    "/admin/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Log in as an administrator
         * @description Public.
         */
        post: operations["postAdminApiAuthLogin"];
    };
    "/api/v1/auth/sms/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Send a login code to a phone
         * @description Six digits, good for five minutes and for one use; a newer code replaces the older one. Public.
         */
        post: operations["postApiV1AuthSmsSend"];
    };
    "/api/v1/auth/sms/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Log in with the code sent to a phone; an unknown phone gets an account
         * @description Public.
         */
        post: operations["postApiV1AuthSmsLogin"];
    };
    "/api/v1/auth/wechat/miniapp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Log in with the code of a WeChat mini program; a new user gets an account
         * @description Public.
         */
        post: operations["postApiV1AuthWechatMiniapp"];
    };
    "/api/v1/user/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Delete my account, confirmed by a code sent to its phone
         * @description A shopper’s token.
         */
        post: operations["postApiV1UserDelete"];
    };
    "/api/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * End this token on every instance
         * @description A shopper’s or an administrator’s token.
         */
        post: operations["postApiAuthLogout"];
    };
    "/admin/api/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All permission codes
         * @description An administrator’s token. Permission `system:admin`.
         */
        get: operations["getAdminApiPermissions"];
    };
    "/admin/api/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All roles
         * @description An administrator’s token. Permission `system:admin`.
         */
        get: operations["getAdminApiRoles"];
        /**
         * Add a role
         * @description An administrator’s token. Permission `system:admin`.
         */
        post: operations["postAdminApiRoles"];
    };
    "/admin/api/roles/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Change a role; other permissions log out whoever has it
         * @description An administrator’s token. Permission `system:admin`.
         */
        put: operations["putAdminApiRolesId"];
        /**
         * Remove a role that nobody has
         * @description An administrator’s token. Permission `system:admin`.
         */
        delete: operations["deleteAdminApiRolesId"];
    };
    "/admin/api/admins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All administrators
         * @description An administrator’s token. Permission `system:admin`.
         */
        get: operations["getAdminApiAdmins"];
        /**
         * Add an administrator
         * @description An administrator’s token. Permission `system:admin`.
         */
        post: operations["postAdminApiAdmins"];
    };
    "/admin/api/admins/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Change an administrator; a new password, role or status ends their tokens
         * @description An administrator’s token. Permission `system:admin`.
         */
        put: operations["putAdminApiAdminsId"];
        /**
         * Remove an administrator
         * @description An administrator’s token. Permission `system:admin`.
         */
        delete: operations["deleteAdminApiAdminsId"];
    };
    "/api/auth/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The account behind the token
         * @description A shopper’s or an administrator’s token.
         */
        get: operations["getApiAuthProfile"];
    };
    "/api/v1/user/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * My profile; the phone is masked
         * @description A shopper’s token.
         */
        get: operations["getApiV1UserProfile"];
    };
    "/api/v1/addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * My addresses, the default first
         * @description A shopper’s token.
         */
        get: operations["getApiV1Addresses"];
        /**
         * Add an address; the first one becomes the default
         * @description A shopper’s token.
         */
        post: operations["postApiV1Addresses"];
    };
    "/api/v1/addresses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Replace an address
         * @description A shopper’s token.
         */
        put: operations["putApiV1AddressesId"];
        /**
         * Remove an address; the newest that remains becomes the default
         * @description A shopper’s token.
         */
        delete: operations["deleteApiV1AddressesId"];
    };
    "/api/v1/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Categories that are shown, flat, in the order of a menu
         * @description Public.
         */
        get: operations["getApiV1Categories"];
    };
    "/api/v1/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Products on the shelf, by sort and newest first; with a keyword, the best hits first
         * @description Works without a token; a shopper’s token adds what is theirs.
         */
        get: operations["getApiV1Products"];
    };
    "/api/v1/products/recommend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Best sellers on the shelf
         * @description Public.
         */
        get: operations["getApiV1ProductsRecommend"];
    };
    "/api/v1/products/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A product with its SKUs and pictures
         * @description Works without a token; a shopper’s token adds what is theirs.
         */
        get: operations["getApiV1ProductsId"];
    };
    "/api/v1/products/{id}/reviews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reviews of a product, newest first, and what they add up to
         * @description Public.
         */
        get: operations["getApiV1ProductsIdReviews"];
    };
    "/api/v1/products/{id}/favorite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Like a product; a second time changes nothing
         * @description A shopper’s token.
         */
        post: operations["postApiV1ProductsIdFavorite"];
        /**
         * Like a product no more; also one that is gone
         * @description A shopper’s token.
         */
        delete: operations["deleteApiV1ProductsIdFavorite"];
    };
    "/api/v1/user/favorites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What I like, newest first; `status` 0 is off the shelf now
         * @description A shopper’s token.
         */
        get: operations["getApiV1UserFavorites"];
    };
    "/admin/api/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All products, whatever their status
         * @description An administrator’s token. Permission `product:view`.
         */
        get: operations["getAdminApiProducts"];
        /**
         * Create a product with its SKU matrix
         * @description The SKUs are the Cartesian product of `spec_schema` (at most 300); without specs there is one default SKU. Where warehouses keep the stock, `stock` is ignored and begins with 0. An administrator’s token. Permission `product:create`.
         */
        post: operations["postAdminApiProducts"];
    };
    "/admin/api/products/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A product as its editor needs it: inactive SKUs too, stock on hand
         * @description The plain texts are those of the shop’s language (`shop.locale`), whatever the language of the request; `translations` has the other languages. An administrator’s token. Permission `product:view`.
         */
        get: operations["getAdminApiProductsId"];
        /**
         * Change what the body carries; absent parts stay as they are
         * @description A plain title, subtitle or detail is the text of the shop’s language; translations of others stay and are marked `outdated`. `translations` replaces those of all other languages. Where warehouses keep the stock, `stock` is ignored. An administrator’s token. Permission `product:edit`.
         */
        put: operations["putAdminApiProductsId"];
        /**
         * Delete a product
         * @description Refused while open orders hold its stock. Orders and reviews keep what they say about it. An administrator’s token. Permission `product:delete`.
         */
        delete: operations["deleteAdminApiProductsId"];
    };
    "/admin/api/products/batch/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Put products on the shelf or take them off
         * @description An administrator’s token. Permission `product:edit`.
         */
        put: operations["putAdminApiProductsBatchStatus"];
    };
    "/admin/api/products/batch/category": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Put products into a category; 0 is none
         * @description An administrator’s token. Permission `product:edit`.
         */
        put: operations["putAdminApiProductsBatchCategory"];
    };
    "/admin/api/products/batch/price": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Set prices, or change them by an amount or a percentage
         * @description Exact to the cent, half a cent away from zero, never below 0, and not to 0 for a product on sale. `origin_price` stays. An administrator’s token. Permission `product:edit`.
         */
        put: operations["putAdminApiProductsBatchPrice"];
    };
    "/admin/api/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All categories, flat; `page` and `size` are not needed
         * @description Names are those of the shop’s language, as this is what a form sends back; `translations` has the others. An administrator’s token. Permission `product:view`.
         */
        get: operations["getAdminApiCategories"];
        /**
         * Create a category
         * @description An administrator’s token. Permission `product:create`.
         */
        post: operations["postAdminApiCategories"];
    };
    "/admin/api/categories/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All categories, nested in three levels
         * @description An administrator’s token. Permission `product:view`.
         */
        get: operations["getAdminApiCategoriesTree"];
    };
    "/admin/api/categories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Change what the body carries; a new parent takes the categories below along
         * @description `name` is that of the shop’s language; `translations` replaces those of all other languages. An administrator’s token. Permission `product:edit`.
         */
        put: operations["putAdminApiCategoriesId"];
        /**
         * Delete a category that is empty
         * @description An administrator’s token. Permission `product:delete`.
         */
        delete: operations["deleteAdminApiCategoriesId"];
    };
    "/admin/api/spec-templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Spec templates, newest first
         * @description An administrator’s token. Permission `product:view`.
         */
        get: operations["getAdminApiSpecTemplates"];
        /**
         * Create a spec template
         * @description An administrator’s token. Permission `product:edit`.
         */
        post: operations["postAdminApiSpecTemplates"];
    };
    "/admin/api/spec-templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A spec template
         * @description An administrator’s token. Permission `product:view`.
         */
        get: operations["getAdminApiSpecTemplatesId"];
        /**
         * Change what the body carries
         * @description An administrator’s token. Permission `product:edit`.
         */
        put: operations["putAdminApiSpecTemplatesId"];
        /**
         * Delete a spec template; products made with it keep their specifications
         * @description An administrator’s token. Permission `product:delete`.
         */
        delete: operations["deleteAdminApiSpecTemplatesId"];
    };
    "/admin/api/wms/warehouses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Warehouses, oldest first
         * @description Without `page` and `size` all of them, up to 1000. An administrator’s token. Permission `wms:view`.
         */
        get: operations["getAdminApiWmsWarehouses"];
        /**
         * Create a warehouse
         * @description An administrator’s token. Permission `wms:edit`.
         */
        post: operations["postAdminApiWmsWarehouses"];
    };
    "/admin/api/wms/warehouses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Change what the body carries
         * @description An administrator’s token. Permission `wms:edit`.
         */
        put: operations["putAdminApiWmsWarehousesId"];
    };
    "/admin/api/wms/warehouses/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Enable a warehouse (1) or disable it (0)
         * @description Nothing new is reserved or completed in a disabled warehouse. Orders that hold stock there keep it until they are paid or cancelled. An administrator’s token. Permission `wms:edit`.
         */
        put: operations["putAdminApiWmsWarehousesIdStatus"];
    };
    "/admin/api/wms/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inbound and outbound documents, newest first
         * @description An administrator’s token. Permission `wms:view`.
         */
        get: operations["getAdminApiWmsDocs"];
        /**
         * Draft a document; it moves no stock yet
         * @description An administrator’s token. Permission `wms:edit`.
         */
        post: operations["postAdminApiWmsDocs"];
    };
    "/admin/api/wms/docs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A document with its items
         * @description Flat, and once more in `doc`. An administrator’s token. Permission `wms:view`.
         */
        get: operations["getAdminApiWmsDocsId"];
        /**
         * Change what the body carries of a draft
         * @description An administrator’s token. Permission `wms:edit`.
         */
        put: operations["putAdminApiWmsDocsId"];
    };
    "/admin/api/wms/docs/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete a draft: its stock comes in or goes out
         * @description All items or none. What orders have reserved is not there to be taken. An administrator’s token. Permission `wms:edit`.
         */
        post: operations["postAdminApiWmsDocsIdComplete"];
    };
    "/admin/api/wms/docs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Cancel a draft
         * @description An administrator’s token. Permission `wms:edit`.
         */
        post: operations["postAdminApiWmsDocsIdCancel"];
    };
    "/admin/api/wms/stocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stock by SKU and warehouse, newest row first
         * @description An administrator’s token. Permission `wms:view`.
         */
        get: operations["getAdminApiWmsStocks"];
    };
    "/admin/api/wms/stocks/by-skus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stock of SKUs in all warehouses; empty when no warehouse is in use
         * @description An administrator’s token. Permission `wms:view`.
         */
        get: operations["getAdminApiWmsStocksBySkus"];
    };
    "/admin/api/wms/stocks/{id}/safety": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Set the safety stock of a SKU in a warehouse
         * @description An administrator’s token. Permission `wms:edit`.
         */
        put: operations["putAdminApiWmsStocksIdSafety"];
    };
    "/admin/api/wms/stocks/{id}/safe-qty": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Set the safety stock of a SKU in a warehouse
         * @description An administrator’s token. Permission `wms:edit`.
         */
        put: operations["putAdminApiWmsStocksIdSafeQty"];
    };
    "/admin/api/wms/movements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What has changed the stock, newest first
         * @description An administrator’s token. Permission `wms:view`.
         */
        get: operations["getAdminApiWmsMovements"];
    };
    "/admin/api/inventory/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The last 50 tasks of the external warehouse, newest first
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getAdminApiInventoryTasks"];
    };
    "/admin/api/inventory/tasks/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A failed task is delivered again, with all its attempts; its order waits again
         * @description An administrator’s token. Permission `system:config`.
         */
        post: operations["postAdminApiInventoryTasksIdRetry"];
    };
    "/admin/api/external-wms/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the external warehouse calls back about a task, signed; as often as it likes
         * @description `body` is the inner JSON as text and the only part that is signed beside `app_key`, `timestamp` and `nonce`: what else stands beside it is not read. Inner `status`: success and failed end the task, any other says that it goes on. Code 0 means that the message needs no repeat; any other code is a refusal, whatever the HTTP status. After 500 the same message may be sent again. Public.
         */
        post: operations["postAdminApiExternalWmsCallback"];
    };
    "/api/v1/cart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * My cart, in the order of adding
         * @description A shopper’s token.
         */
        get: operations["getApiV1Cart"];
    };
    "/api/v1/cart/add": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add pieces of a SKU; quantities of one line add up
         * @description A shopper’s token.
         */
        post: operations["postApiV1CartAdd"];
    };
    "/api/v1/cart/qty": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Set the quantity of a line
         * @description A shopper’s token.
         */
        put: operations["putApiV1CartQty"];
        /**
         * Set the quantity of a line
         * @description A shopper’s token.
         */
        post: operations["postApiV1CartQty"];
    };
    "/api/v1/cart/{sku_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Remove a line
         * @description A shopper’s token.
         */
        delete: operations["deleteApiV1CartSkuId"];
    };
    "/api/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * My orders, newest first
         * @description A shopper’s token.
         */
        get: operations["getApiV1Orders"];
        /**
         * Place an order; its stock is reserved until it is paid, cancelled or runs out of time
         * @description A shopper’s token.
         */
        post: operations["postApiV1Orders"];
    };
    "/api/v1/orders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One of my orders
         * @description A shopper’s token.
         */
        get: operations["getApiV1OrdersId"];
    };
    "/api/v1/orders/{id}/pay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pay at once where the shop allows it (setting `pay.instant`): 1 -> 2, the stock leaves
         * @description A shopper’s token.
         */
        post: operations["postApiV1OrdersIdPay"];
    };
    "/api/v1/orders/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Cancel an unpaid order: 1 -> 6, the stock is free again
         * @description A shopper’s token.
         */
        post: operations["postApiV1OrdersIdCancel"];
    };
    "/admin/api/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Orders of all shoppers, newest first
         * @description An administrator’s token. Permission `order:view`.
         */
        get: operations["getAdminApiOrders"];
    };
    "/admin/api/orders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One order
         * @description An administrator’s token. Permission `order:view`.
         */
        get: operations["getAdminApiOrdersId"];
    };
    "/admin/api/orders/{id}/repricing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Give lines of an unpaid order new unit prices
         * @description An administrator’s token. Permission `order:ship`.
         */
        post: operations["postAdminApiOrdersIdRepricing"];
    };
    "/admin/api/orders/{id}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add a note that the merchant sees
         * @description An administrator’s token. Permission `order:ship`.
         */
        post: operations["postAdminApiOrdersIdNotes"];
    };
    "/admin/api/orders/{id}/remind-pay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Remind the buyer of an unpaid order; a job sends it
         * @description An administrator’s token. Permission `order:view`.
         */
        post: operations["postAdminApiOrdersIdRemindPay"];
    };
    "/admin/api/orders/{id}/reminders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What became of the reminders of an order, newest first
         * @description An administrator’s token. Permission `order:view`.
         */
        get: operations["getAdminApiOrdersIdReminders"];
    };
    "/admin/api/orders/{id}/print-template": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An order as a sheet to print
         * @description An administrator’s token. Permission `order:view`.
         */
        get: operations["getAdminApiOrdersIdPrintTemplate"];
    };
    "/admin/api/orders/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The stages an order has reached, oldest first
         * @description An administrator’s token. Permission `order:view`.
         */
        get: operations["getAdminApiOrdersIdTimeline"];
    };
    "/admin/api/orders/batch/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Put one note on many orders
         * @description An administrator’s token. Permission `order:ship`.
         */
        post: operations["postAdminApiOrdersBatchNotes"];
    };
    "/admin/api/orders/batch/repricing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Change what unpaid orders cost, by a percentage or by an amount
         * @description An administrator’s token. Permission `order:ship`.
         */
        post: operations["postAdminApiOrdersBatchRepricing"];
    };
    "/admin/api/orders/batch/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Give up unpaid orders: 1 -> 6, their stock is free again
         * @description An administrator’s token. Permission `order:ship`.
         */
        post: operations["postAdminApiOrdersBatchClose"];
    };
    "/api/pay/create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open a payment of an unpaid order, or answer the open one; send the shopper to pay_url
         * @description With the provider `instant` the order is paid when this answers, where the shop allows it (setting `pay.instant`). A shopper’s token.
         */
        post: operations["postApiPayCreate"];
    };
    "/api/pay/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A payment of mine by payment_no, or by order_id the one that says most about the order
         * @description A shopper’s token.
         */
        get: operations["getApiPayStatus"];
    };
    "/api/pay/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a payment provider tells, signed; as often as it likes
         * @description Headers `X-Pay-Timestamp` (Unix seconds), `X-Pay-Nonce` (8 to 64 of A-Z a-z 0-9 . _ ~ -) and `X-Pay-Signature`: hex HMAC-SHA256 with the setting `pay.sandbox.secret` over timestamp, LF, nonce, LF, body byte by byte. Code 0 means that the notice needs no repeat; any other code is a refusal, whatever the HTTP status. Public.
         */
        post: operations["postApiPayCallback"];
    };
    "/api/pay/sandbox/{payment_no}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The cashier page of the sandbox sends its signed notice; not in production
         * @description Public.
         */
        post: operations["postApiPaySandboxPaymentNo"];
    };
    "/admin/api/orders/{id}/ship": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ship a paid order: 2 -> 3, a shipment is recorded
         * @description An administrator’s token. Permission `order:ship`.
         */
        put: operations["putAdminApiOrdersIdShip"];
    };
    "/admin/api/orders/batch/ship": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ship many paid orders by express; what is refused for one does not hold up the others
         * @description An administrator’s token. Permission `order:ship`.
         */
        post: operations["postAdminApiOrdersBatchShip"];
    };
    "/api/admin/settings/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One setting of the rate limiter, or all: value, default and where the value comes from
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminSettingsKey"];
        /**
         * Change one setting of the rate limiter, or several: all of them or none
         * @description Of one setting (`ratelimit.ip_rpm`) the body is `{ "value": 300 }`; of the group (`ratelimit.*`) it names the settings: `{ "ip_rpm": 300, "enabled": true }`. null goes back to the default. In force on every instance at once, within 30 s where the message is lost; requests that were admitted before still count. An administrator’s token. Permission `system:config`.
         */
        patch: operations["patchApiAdminSettingsKey"];
    };
    "/api/admin/settings/{key}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed what of it, the newest first
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminSettingsKeyChanges"];
    };
    "/api/admin/api-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * API tokens, the newest first
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminApiTokens"];
        /**
         * Make an API token for a shopper
         * @description The secret is in this answer and nowhere else. An Idempotency-Key is refused, as keeping the answer for repeats would keep the secret. An administrator’s token. Permission `system:config`.
         */
        post: operations["postApiAdminApiTokens"];
    };
    "/api/admin/api-tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One API token, its limits as stored and as in force
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminApiTokensId"];
        /**
         * Revoke an API token: it opens nothing from now on; revoked again it stays so
         * @description An administrator’s token. Permission `system:config`.
         */
        delete: operations["deleteApiAdminApiTokensId"];
        /**
         * Change name, limits or expiry of an API token: what the body carries
         * @description An administrator’s token. Permission `system:config`.
         */
        patch: operations["patchApiAdminApiTokensId"];
    };
    "/api/admin/api-tokens/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Another secret for an API token; limits and history stay
         * @description The secret is in this answer and nowhere else. An Idempotency-Key is refused, as keeping the answer for repeats would keep the secret. With `grace_seconds` the secret before is good for so long; of two rotations the last one decides. An administrator’s token. Permission `system:config`.
         */
        post: operations["postApiAdminApiTokensIdRotate"];
    };
    "/api/admin/api-tokens/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed what of an API token, the newest first
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminApiTokensIdChanges"];
    };
    "/api/admin/users/{id}/ratelimit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Limits of a shopper over all API tokens, as stored and as in force
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminUsersIdRatelimit"];
        /**
         * Give a shopper limits of their own; what is null or left out inherits the default
         * @description An administrator’s token. Permission `system:config`.
         */
        put: operations["putApiAdminUsersIdRatelimit"];
        /**
         * Back to the defaults for a shopper
         * @description An administrator’s token. Permission `system:config`.
         */
        delete: operations["deleteApiAdminUsersIdRatelimit"];
    };
    "/api/admin/users/{id}/ratelimit/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed what of the limits and API tokens of a shopper, the newest first
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminUsersIdRatelimitChanges"];
    };
    "/api/admin/ratelimit/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a user, token, address or model has used within the last 60 seconds, and what is left
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminRatelimitUsage"];
        /**
         * Forget what a user, token, address or model has used: the whole limit is free again
         * @description An administrator’s token. Permission `system:config`.
         */
        delete: operations["deleteApiAdminRatelimitUsage"];
    };
    "/api/admin/gateway/upstreams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The upstreams of the LLM gateway and how they are, as seen by the instance that answers
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminGatewayUpstreams"];
    };
    "/api/admin/gateway/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was used of the LLM gateway, by user, token, model or day
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getApiAdminGatewayUsage"];
    };
    "/admin/api/menus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The console’s menus: pages that are served and that the caller may open
         * @description An administrator’s token.
         */
        get: operations["getAdminApiMenus"];
    };
    "/api/v1/site-settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Name, texts and colours of the shop; defaults where nothing is set
         * @description Public.
         */
        get: operations["getApiV1SiteSettings"];
    };
    "/admin/api/site-settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All site settings as they are in force
         * @description An administrator’s token. Permission `system:config`.
         */
        get: operations["getAdminApiSiteSettings"];
        /**
         * Change site settings: the keys that are sent, the others stay
         * @description An administrator’s token. Permission `system:config`.
         */
        put: operations["putAdminApiSiteSettings"];
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A browser is led to the API reference, others are told where it is */
        get: operations["get"];
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process serves requests */
        get: operations["getHealth"];
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the database and the store answer too; 503 when not */
        get: operations["getReady"];
    };
    "/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers pong */
        get: operations["getPing"];
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Prometheus metrics */
        get: operations["getMetrics"];
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenapiJson"];
    };
    "/asyncapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The document of the WebSocket channels */
        get: operations["getAsyncapiJson"];
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** API reference page */
        get: operations["getDocs"];
    };
    "/docs/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Files of the API reference page */
        get: operations["getDocsFile"];
    };
}
export interface components {
    schemas: {
        Refusal: {
            /** @description what a rule of the shop or the protocol said no with */
            code: number;
            message: string;
            /** @description repeats message */
            msg: string;
            data: null;
        };
        Role: {
            /** @example 1 */
            id: number;
            name: string;
            permissions: string[];
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
        };
        Administrator: {
            /** @example 1 */
            id: number;
            /** @example ann */
            username: string;
            /** @example 1 */
            role_id: number;
            /** @example 1 */
            status: 0 | 1;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
        };
        Profile: {
            /** @example 1 */
            id: number;
            /** @enum {string} */
            role: "user" | "admin";
            /** @example demo */
            username: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            status: number;
            /** @example 138****0000 */
            phone?: string;
            /** @example Demo */
            nickname?: string;
            /** @example  */
            avatar?: string;
            points?: number;
            /** @example Administrator */
            role_name?: string;
            /**
             * @example [
             *       "*"
             *     ]
             */
            perms?: string[];
        };
        UserProfile: {
            /** @example 1 */
            id: number;
            /** @example 138****0000 */
            phone: string;
            /** @example Demo */
            nickname: string;
            /** @example  */
            avatar: string;
            points: number;
            /** @example 1 */
            status: 0 | 1;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
        };
        Address: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            user_id: number;
            /** @example Li Wei */
            name: string;
            /** @example 13800000000 */
            phone: string;
            /** @example Zhejiang */
            province: string;
            /** @example Hangzhou */
            city: string;
            /** @example Xihu */
            district: string;
            /** @example 12 Lakeside Road */
            detail: string;
            /** @example 1 */
            is_default: 0 | 1;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        Category: {
            /** @example 1 */
            id: number;
            /** @example 0 */
            parent_id: number;
            /** @example Mugs */
            name: string;
            /** @example http://127.0.0.1:8080/uploads/demo/icon-kitchen.svg */
            icon: string;
            sort: number;
            status: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        ProductCard: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            merchant_id: number;
            /** @example 0 */
            category_id: number;
            /** @example Enamel mug */
            title: string;
            /** @example Light, unbreakable, dishwasher-safe */
            subtitle: string;
            /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
            cover: string;
            /** @example 12.9 */
            price: number;
            /**
             * @description 0 = none
             * @example 15.9
             */
            origin_price: number;
            /**
             * @description what can still be sold, over all SKUs
             * @example 120
             */
            stock: number;
            /** @example 31 */
            sales: number;
            favorite_count: number;
            status: number;
            sort: number;
            detail: {
                /** @constant */
                version: 1;
                blocks: {
                    /** @default  */
                    id: string;
                    type: string;
                    /** @default {} */
                    props: {
                        [key: string]: unknown;
                    };
                }[];
            };
            is_favorited: boolean;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        RecommendedProduct: {
            /** @example 1 */
            id: number;
            /**
             * @description the same as id
             * @example 1
             */
            product_id: number;
            /** @example 0 */
            category_id: number;
            title: string;
            subtitle: string;
            /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
            cover: string;
            /** @example 12.9 */
            price: number;
            /**
             * @description 0 = none
             * @example 12.9
             */
            origin_price: number;
            stock: number;
            sales: number;
            favorite_count: number;
        };
        ProductDetail: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            merchant_id: number;
            /** @example 0 */
            category_id: number;
            /** @example Enamel mug */
            title: string;
            /** @example Light, unbreakable, dishwasher-safe */
            subtitle: string;
            /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
            cover: string;
            /** @example 12.9 */
            price: number;
            /**
             * @description 0 = none
             * @example 15.9
             */
            origin_price: number;
            /**
             * @description what can still be sold, over all SKUs
             * @example 120
             */
            stock: number;
            /** @example 31 */
            sales: number;
            favorite_count: number;
            status: number;
            sort: number;
            detail: {
                /** @constant */
                version: 1;
                blocks: {
                    /** @default  */
                    id: string;
                    type: string;
                    /** @default {} */
                    props: {
                        [key: string]: unknown;
                    };
                }[];
            };
            is_favorited: boolean;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            skus: components["schemas"]["Sku"][];
            images: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                product_id: number;
                /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
                url: string;
                sort: number;
            }[];
        };
        Sku: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            product_id: number;
            /**
             * @description JSON text
             * @example [{"name":"Colour","value":"Cream"}]
             */
            attrs: string;
            /** @example 12.9 */
            price: number;
            /**
             * @description what can still be sold
             * @example 40
             */
            stock: number;
            /** @example MUG-C */
            sku_code: string;
            /** @example Colour:Cream */
            sku_key: string;
            /** @enum {string} */
            status: "active" | "inactive";
        };
        ProductReviews: {
            summary: {
                /**
                 * @description 0 when there are none
                 * @example 4.5
                 */
                avg_product_score: number;
                /**
                 * @description 0 when there are none
                 * @example 4.5
                 */
                avg_logistics_score: number;
                total: number;
            };
            list: components["schemas"]["Review"][];
            total: number;
            page: number;
            size: number;
        };
        Review: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            order_id: number;
            /** @example 1 */
            order_item_id: number;
            /**
             * @description its middle is masked: everybody reads this
             * @example 1767****0001
             */
            order_no: string;
            /** @example 1 */
            product_id: number;
            /** @example 1 */
            user_id: number;
            /** @example 1 */
            merchant_id: number;
            /** @example 5 */
            product_score: number;
            /** @example 5 */
            logistics_score: number;
            content: string;
            images: string[];
            edited_times: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            user_nickname: string;
            user_avatar: string;
            appends: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                review_id: number;
                content: string;
                /**
                 * Format: date-time
                 * @example 2026-03-01T09:30:00+08:00
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @example 2026-03-01T09:30:00+08:00
                 */
                updated_at: string;
                /** @example 1 */
                user_id: number;
                images: string[];
            }[];
            admin_reply: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                review_id: number;
                content: string;
                /**
                 * Format: date-time
                 * @example 2026-03-01T09:30:00+08:00
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @example 2026-03-01T09:30:00+08:00
                 */
                updated_at: string;
                /** @example 1 */
                admin_id: number;
            } | null;
        };
        FavoriteProduct: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            merchant_id: number;
            /** @example 0 */
            category_id: number;
            /** @example Enamel mug */
            title: string;
            /** @example Light, unbreakable, dishwasher-safe */
            subtitle: string;
            /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
            cover: string;
            /** @example 12.9 */
            price: number;
            /**
             * @description 0 = none
             * @example 15.9
             */
            origin_price: number;
            /**
             * @description what can still be sold, over all SKUs
             * @example 120
             */
            stock: number;
            /** @example 31 */
            sales: number;
            favorite_count: number;
            status: number;
            sort: number;
            detail: {
                /** @constant */
                version: 1;
                blocks: {
                    /** @default  */
                    id: string;
                    type: string;
                    /** @default {} */
                    props: {
                        [key: string]: unknown;
                    };
                }[];
            };
            is_favorited: boolean;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            favorited_at: string;
        };
        AdminProduct: {
            /** @example 1 */
            id: number;
            /** @example Enamel mug */
            title: string;
            /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
            cover: string;
            /** @example 12.9 */
            price: number;
            /** @description what can still be sold */
            stock: number;
            favorite_count: number;
            status: number;
            /** @example 0 */
            category_id: number;
            /** @example Kitchen / Mugs */
            category_path_name: string;
            sales_count: number;
            sales: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
        };
        AdminProductDetail: {
            /** @example 1 */
            id: number;
            /** @example Enamel mug */
            title: string;
            subtitle: string;
            /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
            cover: string;
            /** @example 12.9 */
            price: number;
            /** @example 12.9 */
            origin_price: number;
            /** @description on hand, over the active SKUs */
            stock: number;
            /** @example 0 */
            category_id: number;
            category_path_name: string;
            status: number;
            sort: number;
            detail: {
                /** @constant */
                version: 1;
                blocks: {
                    /** @default  */
                    id: string;
                    type: string;
                    /** @default {} */
                    props: {
                        [key: string]: unknown;
                    };
                }[];
            };
            /**
             * @example {
             *       "zh-CN": {
             *         "title": "搪瓷杯",
             *         "subtitle": "",
             *         "specs": {
             *           "Colour": "颜色",
             *           "Cream": "米白"
             *         }
             *       }
             *     }
             */
            translations: {
                en?: {
                    title?: string;
                    subtitle?: string;
                    detail?: {
                        /** @constant */
                        version: 1;
                        blocks: {
                            /** @default  */
                            id: string;
                            type: string;
                            /** @default {} */
                            props: {
                                [key: string]: unknown;
                            };
                        }[];
                    };
                    specs?: {
                        [key: string]: string;
                    };
                    /** @description of these the text in the shop’s language has changed since; send [] to take the marks away */
                    outdated?: ("title" | "subtitle" | "detail")[];
                };
                "zh-CN"?: {
                    title?: string;
                    subtitle?: string;
                    detail?: {
                        /** @constant */
                        version: 1;
                        blocks: {
                            /** @default  */
                            id: string;
                            type: string;
                            /** @default {} */
                            props: {
                                [key: string]: unknown;
                            };
                        }[];
                    };
                    specs?: {
                        [key: string]: string;
                    };
                    /** @description of these the text in the shop’s language has changed since; send [] to take the marks away */
                    outdated?: ("title" | "subtitle" | "detail")[];
                };
            };
            /** @example 1 */
            merchant_id: number;
            sales: number;
            favorite_count: number;
            is_favorited: boolean;
            images: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                product_id: number;
                /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
                url: string;
                sort: number;
            }[];
            spec_schema: {
                name: string;
                values: string[];
            }[];
            skus: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                product_id: number;
                /** @example Colour:Cream */
                sku_key: string;
                sku_code: string;
                attrs: {
                    name: string;
                    value: string;
                }[];
                /** @example 12.9 */
                price: number;
                /** @description on hand */
                stock: number;
                /** @description the part of stock that open orders hold */
                reserved_stock: number;
                /** @enum {string} */
                status: "active" | "inactive";
            }[];
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        BatchResult: {
            success_ids: number[];
            fail: {
                /** @example 1 */
                id: number;
                /** @example Not found */
                reason: string;
            }[];
        };
        AdminCategory: {
            /** @example 1 */
            id: number;
            /** @example 0 */
            parent_id: number;
            /** @example Mugs */
            name: string;
            /** @example http://127.0.0.1:8080/uploads/demo/icon-kitchen.svg */
            icon: string;
            sort: number;
            status: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            /**
             * @example {
             *       "zh-CN": {
             *         "name": "马克杯"
             *       }
             *     }
             */
            translations: {
                en?: {
                    name?: string;
                    /** @description the shop’s own name has changed since */
                    outdated?: "name"[];
                };
                "zh-CN"?: {
                    name?: string;
                    /** @description the shop’s own name has changed since */
                    outdated?: "name"[];
                };
            };
            /** @description products in it and below it, whatever their status */
            product_count: number;
        };
        CategoryBranch: {
            /** @example 1 */
            id: number;
            /** @example 0 */
            parent_id: number;
            name: string;
            icon: string;
            sort: number;
            status: number;
            /** @description products in it and below it, whatever their status */
            product_count: number;
            children: components["schemas"]["CategoryLeaf"][];
        };
        CategoryLeaf: {
            /** @example 1 */
            id: number;
            /** @example 0 */
            parent_id: number;
            name: string;
            icon: string;
            sort: number;
            status: number;
            /** @description products in it and below it, whatever their status */
            product_count: number;
            children: unknown[];
        };
        SpecTemplate: {
            /** @example 1 */
            id: number;
            /** @example Clothing */
            name: string;
            category_ids: number[];
            attrs: {
                name: string;
                values: string[];
            }[];
            status: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        Warehouse: {
            /** @example 1 */
            id: number;
            /** @example WH-1 */
            code: string;
            /** @example Main warehouse */
            name: string;
            address: string;
            contact: string;
            phone: string;
            /**
             * @description 1 enabled, 0 disabled
             * @example 1
             */
            status: 0 | 1;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        WarehouseDocument: {
            /** @example 1 */
            id: number;
            /** @example WI177232560000000000000010427 */
            doc_no: string;
            /** @example 1 */
            warehouse_id: number;
            /** @example Main warehouse */
            warehouse_name: string;
            /** @enum {string} */
            doc_type: "inbound" | "outbound";
            /** @enum {string} */
            status: "draft" | "completed" | "canceled";
            remark: string;
            total_qty: number;
            item_count: number;
            /** @description manual, or what the shop wrote it for: takeover, deduct, restore */
            biz_type: string;
            biz_no: string;
            /** @description administrator; 0 is the shop itself */
            created_by: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            completed_at: string | null;
            canceled_at: string | null;
        };
        WarehouseDocumentDetail: {
            /** @example 1 */
            id: number;
            /** @example WI177232560000000000000010427 */
            doc_no: string;
            /** @example 1 */
            warehouse_id: number;
            /** @example Main warehouse */
            warehouse_name: string;
            /** @enum {string} */
            doc_type: "inbound" | "outbound";
            /** @enum {string} */
            status: "draft" | "completed" | "canceled";
            remark: string;
            total_qty: number;
            item_count: number;
            /** @description manual, or what the shop wrote it for: takeover, deduct, restore */
            biz_type: string;
            biz_no: string;
            /** @description administrator; 0 is the shop itself */
            created_by: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            completed_at: string | null;
            canceled_at: string | null;
            doc: components["schemas"]["WarehouseDocument"];
            items: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                doc_id: number;
                /** @example 1 */
                sku_id: number;
                /** @example Enamel mug (Cream, L) */
                sku_name: string;
                sku_code: string;
                qty: number;
                /** @example 12.9 */
                unit_cost: number;
                remark: string;
            }[];
        };
        WarehouseStock: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            warehouse_id: number;
            /** @example Main warehouse */
            warehouse_name: string;
            /** @example 1 */
            warehouse_status: 0 | 1;
            /** @example 1 */
            sku_id: number;
            /** @example Enamel mug (Cream, L) */
            sku_name: string;
            sku_code: string;
            /** @description on hand */
            qty: number;
            /** @description of these, held by open orders */
            reserved_qty: number;
            safe_qty: number;
            /** @description qty is below safe_qty */
            is_warning: boolean;
            /** @description how many are missing to safe_qty */
            warning_gap: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        StockMovement: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            warehouse_id: number;
            /** @example Main warehouse */
            warehouse_name: string;
            /** @example 1 */
            sku_id: number;
            /** @example Enamel mug (Cream, L) */
            sku_name: string;
            sku_code: string;
            /** @enum {string} */
            biz_type: "inbound" | "outbound" | "order_outbound" | "reserve" | "release";
            /** @description of qty; 0 where only what is reserved has changed */
            change_qty: number;
            before_qty: number;
            after_qty: number;
            /** @description 0 where an order moved the stock */
            doc_id: number;
            /** @description number of the document or the order */
            doc_no: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            occurred_at: string;
        };
        InventoryTask: {
            /** @example 1 */
            id: number;
            /** @example external_wms */
            provider: string;
            /** @example order */
            biz_type: string;
            /** @example 1772358600000000001 */
            biz_no: string;
            /** @enum {string} */
            action: "reserve" | "confirm" | "release" | "deduct" | "restore" | "sync_sku";
            /**
             * @description what the warehouse is told with every attempt, also as Idempotency-Key
             * @example order:1772358600000000001:reserve
             */
            request_id: string;
            /**
             * @description tasks of one key are delivered one after the other
             * @example order:1772358600000000001
             */
            sequence_key: string;
            /** @enum {string} */
            mode: "sync" | "async";
            /**
             * @description JSON text
             * @example {"biz_type":"order"}
             */
            payload: string;
            /** @enum {string} */
            status: "pending" | "processing" | "success" | "failed";
            attempt_count: number;
            max_attempts: number;
            backoff_seconds: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            next_retry_at: string;
            last_code: number | null;
            last_error: string;
            lock_owner: string | null;
            lock_expires_at: string | null;
            /** @description the warehouse has it and will call back */
            accepted_at: string | null;
            completed_at: string | null;
            last_callback_id: string | null;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        CartLine: {
            /** @example 1 */
            sku_id: number;
            /** @example 0 */
            activity_product_id: number;
            /** @example 2 */
            qty: number;
            product: components["schemas"]["ProductCard"];
            sku: components["schemas"]["Sku"];
        };
        Order: {
            /** @example 1 */
            id: number;
            /** @example 1772358600000000001 */
            order_no: string;
            /** @example 1 */
            user_id: number;
            /** @example 1 */
            merchant_id: number;
            /** @example 1 */
            status: number;
            /** @example Pending Payment */
            status_label: string;
            /** @enum {string} */
            inventory_status: "none" | "pending" | "reserved" | "confirmed" | "released" | "failed";
            /** @example wechat */
            payment_method: string;
            /** @example 12.9 */
            goods_amount: number;
            /** @example 12.9 */
            discount_amount: number;
            /** @example 12.9 */
            freight_amount: number;
            /** @example 12.9 */
            total_amount: number;
            amount_breakdown: components["schemas"]["AmountBreakdown"];
            address_snapshot: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                user_id: number;
                /** @example Li Wei */
                name: string;
                /** @example 13800000000 */
                phone: string;
                province: string;
                city: string;
                district: string;
                /** @example 12 Lakeside Road */
                detail: string;
                /** @example 1 */
                is_default: 0 | 1;
            };
            remark: string;
            /** @example SF1234567890 */
            tracking_no: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            expires_at: string;
            paid_at: string | null;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        AmountBreakdown: {
            /** @example 12.9 */
            goods_amount: number;
            /** @example 12.9 */
            discount_amount: number;
            /** @example 12.9 */
            freight_amount: number;
            /** @example 12.9 */
            payable_amount: number;
        };
        OrderView: {
            /** @example 1 */
            id: number;
            /** @example 1772358600000000001 */
            order_no: string;
            /** @example 1 */
            user_id: number;
            /** @example 1 */
            merchant_id: number;
            /** @example 1 */
            status: number;
            /** @example Pending Payment */
            status_label: string;
            /** @enum {string} */
            inventory_status: "none" | "pending" | "reserved" | "confirmed" | "released" | "failed";
            /** @example wechat */
            payment_method: string;
            /** @example 12.9 */
            goods_amount: number;
            /** @example 12.9 */
            discount_amount: number;
            /** @example 12.9 */
            freight_amount: number;
            /** @example 12.9 */
            total_amount: number;
            amount_breakdown: components["schemas"]["AmountBreakdown"];
            address_snapshot: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                user_id: number;
                /** @example Li Wei */
                name: string;
                /** @example 13800000000 */
                phone: string;
                province: string;
                city: string;
                district: string;
                /** @example 12 Lakeside Road */
                detail: string;
                /** @example 1 */
                is_default: 0 | 1;
            };
            remark: string;
            /** @example SF1234567890 */
            tracking_no: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            expires_at: string;
            paid_at: string | null;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            /**
             * @description of the first activity line, else empty
             * @example
             */
            activity_type: string;
            /** @example  */
            activity_name: string;
            items: components["schemas"]["OrderItem"][];
            /** @description newest first */
            shipments: components["schemas"]["Shipment"][];
            latest_shipment?: components["schemas"]["Shipment"];
            after_sale_summary: components["schemas"]["AfterSaleSummary"];
        };
        OrderItem: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            order_item_id: number;
            /** @example 1 */
            order_id: number;
            /** @example 0 */
            warehouse_id: number;
            /** @example 1 */
            product_id: number;
            /** @example 1 */
            sku_id: number;
            /** @example 0 */
            activity_product_id: number;
            /** @example 0 */
            activity_id: number;
            /** @example  */
            activity_type: string;
            /** @example  */
            activity_title: string;
            /** @example Enamel mug */
            title: string;
            /** @example http://127.0.0.1:8080/uploads/demo/enamel-mug.svg */
            cover: string;
            /**
             * @description JSON text
             * @example [{"name":"Colour","value":"Cream"}]
             */
            attrs: string;
            /** @example 12.9 */
            price: number;
            qty: number;
            /**
             * @description what the buyer pays for the line after its share of the discounts
             * @example 12.9
             */
            payable_amount: number;
        };
        Shipment: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            order_id: number;
            /** @example 0 */
            after_sale_case_id: number;
            /** @enum {string} */
            delivery_type: "express" | "local";
            /** @example Express */
            delivery_type_label: string;
            /** @enum {string} */
            direction: "outbound" | "inbound";
            /** @example Outbound */
            direction_label: string;
            /** @enum {string} */
            biz_type: "initial" | "reship" | "return";
            /** @example Initial */
            biz_type_label: string;
            /** @example SF */
            company: string;
            /** @example SF1234567890 */
            tracking_no: string;
            /** @example  */
            rider_name: string;
            /** @example  */
            rider_phone: string;
            /** @example  */
            channel_provider: string;
            /** @enum {string} */
            logistics_status: "pending" | "shipped" | "in_transit" | "signed" | "exception";
            /** @example Pending Pickup */
            logistics_status_label: string;
            last_query_at: string | null;
            last_sync_ok_at: string | null;
            /** @example 0 */
            sync_fail_count: number;
            remark: string;
            shipped_at: string | null;
            signed_at: string | null;
            /** @enum {string} */
            created_by_type: "admin" | "user" | "system";
            /** @example 0 */
            created_by_id: number;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        AfterSaleSummary: {
            /** @example 0 */
            in_progress_count: number;
            has_open_case: boolean;
            /** @example 0 */
            latest_case_id: number;
            /** @example  */
            latest_status: string;
            /** @example  */
            latest_status_label: string;
            /** @description whether the buyer may apply for an after-sale */
            can_apply: boolean;
        };
        AdminOrder: {
            /** @example 1 */
            id: number;
            /** @example 1772358600000000001 */
            order_no: string;
            /** @example 1 */
            user_id: number;
            /** @example 1 */
            merchant_id: number;
            /** @example 1 */
            status: number;
            /** @example Pending Payment */
            status_label: string;
            /** @enum {string} */
            inventory_status: "none" | "pending" | "reserved" | "confirmed" | "released" | "failed";
            /** @example wechat */
            payment_method: string;
            /** @example 12.9 */
            goods_amount: number;
            /** @example 12.9 */
            discount_amount: number;
            /** @example 12.9 */
            freight_amount: number;
            /** @example 12.9 */
            total_amount: number;
            amount_breakdown: components["schemas"]["AmountBreakdown"];
            address_snapshot: {
                /** @example 1 */
                id: number;
                /** @example 1 */
                user_id: number;
                /** @example Li Wei */
                name: string;
                /** @example 13800000000 */
                phone: string;
                province: string;
                city: string;
                district: string;
                /** @example 12 Lakeside Road */
                detail: string;
                /** @example 1 */
                is_default: 0 | 1;
            };
            remark: string;
            /** @example SF1234567890 */
            tracking_no: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            expires_at: string;
            paid_at: string | null;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            /**
             * @description of the first activity line, else empty
             * @example
             */
            activity_type: string;
            /** @example  */
            activity_name: string;
            items: components["schemas"]["OrderItem"][];
            /** @description newest first */
            shipments: components["schemas"]["Shipment"][];
            latest_shipment?: components["schemas"]["Shipment"];
            after_sale_summary: components["schemas"]["AfterSaleSummary"];
            /** @example Demo */
            user_nickname: string;
            /** @example 12.9 */
            pay_amount: number;
            /** @example wechat */
            pay_method: string;
            /** @example Li Wei */
            receiver_name: string;
            /** @example 13800000000 */
            receiver_phone: string;
            /** @example Zhejiang Hangzhou Xihu 12 Lakeside Road */
            receiver_address: string;
            has_after_sale: boolean;
            notes: {
                /** @example 1 */
                id: number;
                content: string;
                visible_to: string;
                /**
                 * Format: date-time
                 * @example 2026-03-01T09:30:00+08:00
                 */
                created_at: string;
            }[];
        };
        Payment: {
            /** @example PAY17723586000000123456789 */
            payment_no: string;
            /** @enum {string} */
            provider: "sandbox" | "instant";
            /** @example 1 */
            order_id: number;
            /** @example 1772358600000000001 */
            order_no: string;
            /** @example 12.9 */
            amount: number;
            /** @example CNY */
            currency: string;
            /** @enum {string} */
            status: "pending" | "succeeded" | "failed" | "closed" | "refunding" | "refunded";
            /** @example Waiting for payment */
            status_label: string;
            /**
             * @description send the shopper there; empty once there is nothing to pay
             * @example http://127.0.0.1:8080/pay/sandbox/PAY17723586000000123456789
             */
            pay_url: string;
            /**
             * Format: date-time
             * @description when the order runs out, and the payment with it
             * @example 2026-03-01T09:30:00+08:00
             */
            expires_at: string;
            paid_at: string | null;
            refunded_at: string | null;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /** @example 1 */
            order_status: number;
            /** @example Pending Payment */
            order_status_label: string;
        };
        RateLimitSetting: {
            /** @example ratelimit.user_default_rpm */
            key: string;
            /** @example 60 */
            value: number | boolean | null;
            /** @example 60 */
            default: number | boolean | null;
            /** @enum {string} */
            source: "default" | "table" | "file";
            /** @example requests per minute of a user; 0 is unlimited */
            about: string;
        };
        RateLimitSettingChange: {
            /** @example 1 */
            id: number;
            /** @example ratelimit.user_default_rpm */
            key: string;
            /**
             * @description null: the default
             * @example null
             */
            before: unknown;
            /**
             * @description null: the default
             * @example 120
             */
            after: unknown;
            /** @example admin:1 */
            changed_by: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            changed_at: string;
        };
        ApiToken: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            user_id: number;
            /**
             * @description of the shopper
             * @example Demo
             */
            nickname: string;
            /** @example Production */
            name: string;
            /**
             * @description how the secret begins
             * @example tp-4fK9aQ2z
             */
            prefix: string;
            /** @enum {string} */
            status: "active" | "revoked" | "expired";
            /**
             * @description requests per minute; null inherits, 0 is unlimited
             * @example 600
             */
            rpm_limit: number | null;
            /**
             * @description tokens per minute; null inherits, 0 is unlimited
             * @example 600
             */
            tpm_limit: number | null;
            /** @description all of them hold, so the stricter decides */
            effective: {
                /**
                 * @description requests per minute of the user over all tokens in force; 0 is unlimited
                 * @example 600
                 */
                user_rpm: number;
                /**
                 * @description tokens per minute of the user over all tokens in force; 0 is unlimited
                 * @example 600
                 */
                user_tpm: number;
                /**
                 * @description requests per minute of the token in force; 0 is unlimited
                 * @example 600
                 */
                token_rpm: number;
                /**
                 * @description tokens per minute of the token in force; 0 is unlimited
                 * @example 600
                 */
                token_tpm: number;
            };
            expires_at: string | null;
            revoked_at: string | null;
            /** @description to the minute */
            last_used_at: string | null;
            /** @description until then the secret before the last rotation is good too */
            previous_until: string | null;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
        };
        ApiTokenSecret: {
            /** @example 1 */
            id: number;
            /** @example 1 */
            user_id: number;
            /**
             * @description of the shopper
             * @example Demo
             */
            nickname: string;
            /** @example Production */
            name: string;
            /**
             * @description how the secret begins
             * @example tp-4fK9aQ2z
             */
            prefix: string;
            /** @enum {string} */
            status: "active" | "revoked" | "expired";
            /**
             * @description requests per minute; null inherits, 0 is unlimited
             * @example 600
             */
            rpm_limit: number | null;
            /**
             * @description tokens per minute; null inherits, 0 is unlimited
             * @example 600
             */
            tpm_limit: number | null;
            /** @description all of them hold, so the stricter decides */
            effective: {
                /**
                 * @description requests per minute of the user over all tokens in force; 0 is unlimited
                 * @example 600
                 */
                user_rpm: number;
                /**
                 * @description tokens per minute of the user over all tokens in force; 0 is unlimited
                 * @example 600
                 */
                user_tpm: number;
                /**
                 * @description requests per minute of the token in force; 0 is unlimited
                 * @example 600
                 */
                token_rpm: number;
                /**
                 * @description tokens per minute of the token in force; 0 is unlimited
                 * @example 600
                 */
                token_tpm: number;
            };
            expires_at: string | null;
            revoked_at: string | null;
            /** @description to the minute */
            last_used_at: string | null;
            /** @description until then the secret before the last rotation is good too */
            previous_until: string | null;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            created_at: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            updated_at: string;
            /**
             * @description shown here and never again; sent as `Authorization: Bearer`
             * @example tp-4fK9aQ2z4fK9aQ2z4fK9aQ2z4fK9aQ2z4fK9aQ2z4fK9aQ2z
             */
            secret: string;
        };
        ApiTokenChange: {
            /** @example 1 */
            id: number;
            /** @description null: the limits of the user */
            token_id: number | null;
            /** @example 1 */
            user_id: number;
            /** @enum {string} */
            action: "create" | "update" | "revoke" | "rotate" | "user_limits";
            /**
             * @example {
             *       "before": {
             *         "rpm_limit": null
             *       },
             *       "after": {
             *         "rpm_limit": 600
             *       }
             *     }
             */
            details: {
                [key: string]: unknown;
            };
            /** @example admin:1 */
            changed_by: string;
            /**
             * Format: date-time
             * @example 2026-03-01T09:30:00+08:00
             */
            changed_at: string;
        };
        UserRateLimit: {
            /** @example 1 */
            user_id: number;
            /**
             * @description requests per minute; null inherits, 0 is unlimited
             * @example 600
             */
            rpm_limit: number | null;
            /**
             * @description tokens per minute; null inherits, 0 is unlimited
             * @example 600
             */
            tpm_limit: number | null;
            effective: {
                /**
                 * @description requests per minute in force; 0 is unlimited
                 * @example 600
                 */
                user_rpm: number;
                /**
                 * @description tokens per minute in force; 0 is unlimited
                 * @example 600
                 */
                user_tpm: number;
            };
        };
        RateLimitUsage: {
            /** @enum {string} */
            kind: "user" | "token" | "ip" | "model";
            /** @example gpt-4o-mini */
            key: string;
            /** @description within the last 60 seconds */
            requests: number;
            tokens: number;
            limits: {
                /**
                 * @description null: unlimited
                 * @example 60
                 */
                rpm: number | null;
                /**
                 * @description null: unlimited
                 * @example 60
                 */
                tpm: number | null;
            };
            remaining: {
                /**
                 * @description null: unlimited
                 * @example 60
                 */
                rpm: number | null;
                /**
                 * @description null: unlimited
                 * @example 60
                 */
                tpm: number | null;
            };
            /**
             * @description when the first of them no longer counts
             * @example 41250
             */
            oldest_leaves_ms: number | null;
        };
        GatewayUpstream: {
            /** @example main */
            name: string;
            /** @example https://api.example.com/v1 */
            base_url: string;
            /**
             * @description names, or patterns with *
             * @example [
             *       "*"
             *     ]
             */
            models: string[];
            /** @description lower is tried first */
            priority: number;
            enabled: boolean;
            /** @description whether a key is configured and found; the key itself is never shown */
            has_key: boolean;
            /**
             * @description resting: tried last, as it failed or is limited; probing: the next request finds out
             * @enum {string}
             */
            state: "up" | "resting" | "probing" | "disabled";
            /** @description in a row */
            failures: number;
            /** @description until it is asked again */
            rest_ms: number;
        };
        GatewayUsage: {
            /**
             * @description id of the user or token, model or day
             * @example 42
             */
            key: string;
            /** @description that went to an upstream */
            requests: number;
            failed: number;
            cancelled: number;
            /** @description running, or of a process that has died */
            open: number;
            /** @description what the limiter charged: estimated input and most output */
            charged_tokens: number;
            /** @description used, as the upstreams say; estimated where they do not */
            input_tokens: number;
            /** @description used, as the upstreams say; estimated where they do not */
            output_tokens: number;
        };
        AdminMenu: {
            dashboard: {
                /** @example Orders */
                title: string;
                /** @example /order/list */
                path: string;
            };
            groups: {
                /** @example order */
                key: string;
                /** @example Orders */
                title: string;
                /** @example shopping-cart */
                icon: string;
                /** @example 20 */
                sort: number;
                menus: {
                    /** @example Orders */
                    title: string;
                    /**
                     * @description the console translates it itself
                     * @example menu.wms.stock
                     */
                    title_key?: string;
                    /** @example shopping-cart */
                    icon: string;
                    /** @example /order/list */
                    path: string;
                    /** @example 20 */
                    sort: number;
                    children: {
                        /** @example Orders */
                        title: string;
                        /**
                         * @description the console translates it itself
                         * @example menu.wms.stock
                         */
                        title_key?: string;
                        /** @example /order/list */
                        path: string;
                        /** @example 20 */
                        sort: number;
                    }[];
                }[];
            }[];
        };
        SiteSettings: {
            /**
             * @description name of the site
             * @example Tradepost
             */
            site_name: string;
            /**
             * @description picture beside the name
             * @example
             */
            site_logo: string;
            /**
             * @description title for search engines
             * @example Tradepost - online shop
             */
            seo_title: string;
            /**
             * @description keywords for search engines
             * @example shop, online shop
             */
            seo_keywords: string;
            /**
             * @description description for search engines
             * @example Good things, sent quickly.
             */
            seo_description: string;
            /**
             * @description registration number in the footer
             * @example
             */
            icp: string;
            /**
             * @description small text above the title of the home page
             * @example New in
             */
            hero_badge: string;
            /**
             * @description title of the home page
             * @example Good things for every day
             */
            hero_title: string;
            /**
             * @description text below the title of the home page
             * @example Chosen with care, sent quickly.
             */
            hero_subtitle: string;
            /**
             * @description button of the home page
             * @example Shop now
             */
            hero_btn_text: string;
            /**
             * @description where the button of the home page leads
             * @example /products
             */
            hero_btn_link: string;
            /**
             * @description main colour
             * @example #1f6feb
             */
            color_primary: string;
            /**
             * @description lighter main colour
             * @example #5b97f5
             */
            color_primary_light: string;
            /**
             * @description darker main colour
             * @example #174ea6
             */
            color_primary_dark: string;
            /**
             * @description background of pages
             * @example #f6f7f9
             */
            color_bg_page: string;
            /**
             * @description background of the header
             * @example #ffffff
             */
            color_bg_header: string;
            /**
             * @description background of the footer
             * @example #f9fafb
             */
            color_bg_footer: string;
            /**
             * @description prices
             * @example #d9342b
             */
            color_price: string;
            /**
             * @description where the gradient of the home page begins
             * @example #1f6feb
             */
            color_hero_from: string;
            /**
             * @description where the gradient of the home page ends
             * @example #6d4aff
             */
            color_hero_to: string;
            /**
             * @description name of the shop
             * @example Tradepost
             */
            shop_name: string;
            /**
             * @description phone number of customer service
             * @example 400-123-4567
             */
            service_phone: string;
            /** @example 30 */
            order_auto_cancel_minutes?: number;
        };
    };
    responses: {
        /** @description No token, or one that is invalid, expired or revoked */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": 401,
                 *       "message": "Please log in",
                 *       "msg": "Please log in",
                 *       "data": null
                 *     }
                 */
                "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description A fault of the protocol (400, 404, 405, 408, 413, 415, 431) or of the server (5xx). 413: the body has more bytes than `x-body-limit` says */
        Fault: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "code": 400,
                 *       "message": "Malformed request",
                 *       "msg": "Malformed request",
                 *       "data": null
                 *     }
                 */
                "application/json": components["schemas"]["Refusal"];
            };
        };
    };
    parameters: {
        /** @description Language of messages and labels; wins over Accept-Language */
        lang: "en" | "zh-CN";
        /**
         * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
         * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
         */
        idempotencyKey: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
interface operations {
    postApiAuthLogin: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "username": "demo",
                 *       "password": "demo123456"
                 *     }
                 */
                "application/json": {
                    /** @example demo */
                    username: string;
                    /**
                     * Format: password
                     * @example demo123456
                     */
                    password: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl */
                            token: string;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiAuthLogin: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "username": "admin",
                 *       "password": "admin123"
                 *     }
                 */
                "application/json": {
                    /** @example admin */
                    username: string;
                    /**
                     * Format: password
                     * @example admin123
                     */
                    password: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl */
                            token: string;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    postApiV1AuthSmsSend: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone": "13800000000"
                 *     }
                 */
                "application/json": {
                    /** @example 13800000000 */
                    phone: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /**
                             * @description The code itself, with the test provider only
                             * @example 123456
                             */
                            dev_code?: string;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    postApiV1AuthSmsLogin: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone": "13800000000",
                 *       "code": "123456"
                 *     }
                 */
                "application/json": {
                    /** @example 13800000000 */
                    phone: string;
                    /** @example 123456 */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl */
                            token: string;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    postApiV1AuthWechatMiniapp: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "0a1Bcd2e3"
                 *     }
                 */
                "application/json": {
                    /** @example 0a1Bcd2e3 */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl */
                            token: string;
                            /** @example oXyZ1234 */
                            open_id: string;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    postApiV1UserDelete: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone": "13800000000",
                 *       "code": "123456"
                 *     }
                 */
                "application/json": {
                    /** @example 13800000000 */
                    phone: string;
                    /** @example 123456 */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiAuthLogout: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiPermissions: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: string[];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiRoles: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Role"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiRoles: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Team lead",
                 *       "permissions": [
                 *         "system:admin"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @example Team lead */
                    name: string;
                    /**
                     * @default []
                     * @example [
                     *       "system:admin"
                     *     ]
                     */
                    permissions?: string[];
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Role"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiRolesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 2 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Team lead",
                 *       "permissions": [
                 *         "system:admin"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @example Team lead */
                    name?: string;
                    /**
                     * @example [
                     *       "system:admin"
                     *     ]
                     */
                    permissions?: string[];
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteAdminApiRolesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 2 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiAdmins: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Administrator"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiAdmins: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "username": "ann",
                 *       "password": "correct horse battery",
                 *       "role_id": 2,
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /** @example ann */
                    username: string;
                    /**
                     * Format: password
                     * @example correct horse battery
                     */
                    password: string;
                    /** @example 2 */
                    role_id: number;
                    /**
                     * @default 1
                     * @example 1
                     */
                    status?: 0 | 1;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Administrator"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiAdminsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 2 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "username": "ann",
                 *       "password": "correct horse battery",
                 *       "role_id": 2,
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /** @example ann */
                    username?: string;
                    /**
                     * Format: password
                     * @description Empty: the password stays
                     * @example correct horse battery
                     */
                    password?: string;
                    /** @example 2 */
                    role_id?: number;
                    /** @example 1 */
                    status?: 0 | 1;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteAdminApiAdminsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 2 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAuthProfile: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Profile"];
                    } | components["schemas"]["Refusal"];
                };
            };
            /** @description A refusal with this HTTP status */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiV1UserProfile: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["UserProfile"];
                    } | components["schemas"]["Refusal"];
                };
            };
            /** @description A refusal with this HTTP status */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiV1Addresses: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Address"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiV1Addresses: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Li Wei",
                 *       "phone": "13800000000",
                 *       "province": "Zhejiang",
                 *       "city": "Hangzhou",
                 *       "district": "Xihu",
                 *       "detail": "12 Lakeside Road",
                 *       "is_default": 1
                 *     }
                 */
                "application/json": {
                    /** @example Li Wei */
                    name: string;
                    /** @example 13800000000 */
                    phone: string;
                    /**
                     * @default
                     * @example Zhejiang
                     */
                    province?: string;
                    /**
                     * @default
                     * @example Hangzhou
                     */
                    city?: string;
                    /**
                     * @default
                     * @example Xihu
                     */
                    district?: string;
                    /**
                     * @default
                     * @example 12 Lakeside Road
                     */
                    detail?: string;
                    /**
                     * @default 0
                     * @example 1
                     */
                    is_default?: 0 | 1 | boolean;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Address"];
                    } | components["schemas"]["Refusal"];
                };
            };
            /** @description A refusal with this HTTP status */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    putApiV1AddressesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Li Wei",
                 *       "phone": "13800000000",
                 *       "province": "Zhejiang",
                 *       "city": "Hangzhou",
                 *       "district": "Xihu",
                 *       "detail": "12 Lakeside Road",
                 *       "is_default": 1
                 *     }
                 */
                "application/json": {
                    /** @example Li Wei */
                    name: string;
                    /** @example 13800000000 */
                    phone: string;
                    /**
                     * @default
                     * @example Zhejiang
                     */
                    province?: string;
                    /**
                     * @default
                     * @example Hangzhou
                     */
                    city?: string;
                    /**
                     * @default
                     * @example Xihu
                     */
                    district?: string;
                    /**
                     * @default
                     * @example 12 Lakeside Road
                     */
                    detail?: string;
                    /**
                     * @default 0
                     * @example 1
                     */
                    is_default?: 0 | 1 | boolean;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Address"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteApiV1AddressesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiV1Categories: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Category"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiV1Products: {
        parameters: {
            query?: {
                /** @example mug */
                keyword?: string;
                /** @example 0 */
                category_id?: number;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["ProductCard"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiV1ProductsRecommend: {
        parameters: {
            query?: {
                /** @example 8 */
                limit?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["RecommendedProduct"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiV1ProductsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["ProductDetail"];
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiV1ProductsIdReviews: {
        parameters: {
            query?: {
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["ProductReviews"];
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    postApiV1ProductsIdFavorite: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteApiV1ProductsIdFavorite: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiV1UserFavorites: {
        parameters: {
            query?: {
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["FavoriteProduct"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiProducts: {
        parameters: {
            query?: {
                /** @example mug */
                keyword?: string;
                /** @example 0 */
                category_id?: number;
                /** @example 1 */
                status?: number;
                /** @example false */
                low_stock?: boolean;
                /** @example sales */
                sort_by?: "sales" | "stock" | "price_asc" | "price_desc" | "created";
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["AdminProduct"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiProducts: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "product": {
                 *         "title": "Enamel mug",
                 *         "price": 12.9,
                 *         "subtitle": "Light, unbreakable, dishwasher-safe",
                 *         "origin_price": 15.9,
                 *         "stock": 120,
                 *         "category_id": 0,
                 *         "cover": "/uploads/demo/enamel-mug.svg",
                 *         "status": 1,
                 *         "sort": 1,
                 *         "detail": "text",
                 *         "translations": {
                 *           "zh-CN": {
                 *             "title": "搪瓷杯",
                 *             "subtitle": "",
                 *             "specs": {
                 *               "Colour": "颜色",
                 *               "Cream": "米白"
                 *             }
                 *           }
                 *         }
                 *       },
                 *       "images": [
                 *         {
                 *           "url": "/uploads/demo/enamel-mug-2.svg",
                 *           "sort": 0
                 *         }
                 *       ],
                 *       "sku_generation_mode": "auto",
                 *       "spec_schema": [
                 *         {
                 *           "name": "Colour",
                 *           "values": [
                 *             "Cream",
                 *             "Navy"
                 *           ]
                 *         }
                 *       ],
                 *       "sku_overrides": [
                 *         {
                 *           "sku_key": "Colour:Cream",
                 *           "sku_code": "MUG-C",
                 *           "price": 12.9,
                 *           "stock": 40
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    product: {
                        /** @example Enamel mug */
                        title: string;
                        /** @example 12.9 */
                        price: number;
                        /** @example Light, unbreakable, dishwasher-safe */
                        subtitle?: string;
                        /** @example 15.9 */
                        origin_price?: number;
                        /** @example 120 */
                        stock?: number;
                        /** @example 0 */
                        category_id?: number;
                        /** @example /uploads/demo/enamel-mug.svg */
                        cover?: string;
                        /** @example 1 */
                        status?: number;
                        sort?: number;
                        /** @description Page content: an object or its JSON text */
                        detail?: unknown;
                        /**
                         * @example {
                         *       "zh-CN": {
                         *         "title": "搪瓷杯",
                         *         "subtitle": "",
                         *         "specs": {
                         *           "Colour": "颜色",
                         *           "Cream": "米白"
                         *         }
                         *       }
                         *     }
                         */
                        translations?: {
                            en?: {
                                title?: string;
                                subtitle?: string;
                                detail?: {
                                    /** @constant */
                                    version: 1;
                                    blocks: {
                                        /** @default  */
                                        id?: string;
                                        type: string;
                                        /** @default {} */
                                        props?: {
                                            [key: string]: unknown;
                                        };
                                    }[];
                                };
                                specs?: {
                                    [key: string]: string;
                                };
                                /** @description of these the text in the shop’s language has changed since; send [] to take the marks away */
                                outdated?: ("title" | "subtitle" | "detail")[];
                            };
                            "zh-CN"?: {
                                title?: string;
                                subtitle?: string;
                                detail?: {
                                    /** @constant */
                                    version: 1;
                                    blocks: {
                                        /** @default  */
                                        id?: string;
                                        type: string;
                                        /** @default {} */
                                        props?: {
                                            [key: string]: unknown;
                                        };
                                    }[];
                                };
                                specs?: {
                                    [key: string]: string;
                                };
                                /** @description of these the text in the shop’s language has changed since; send [] to take the marks away */
                                outdated?: ("title" | "subtitle" | "detail")[];
                            };
                        };
                    };
                    /**
                     * @example [
                     *       {
                     *         "url": "/uploads/demo/enamel-mug-2.svg",
                     *         "sort": 0
                     *       }
                     *     ]
                     */
                    images?: {
                        url: string;
                        sort?: number;
                    }[];
                    /** @constant */
                    sku_generation_mode?: "auto";
                    /**
                     * @example [
                     *       {
                     *         "name": "Colour",
                     *         "values": [
                     *           "Cream",
                     *           "Navy"
                     *         ]
                     *       }
                     *     ]
                     */
                    spec_schema?: {
                        name: string;
                        values: string[];
                    }[];
                    /**
                     * @example [
                     *       {
                     *         "sku_key": "Colour:Cream",
                     *         "sku_code": "MUG-C",
                     *         "price": 12.9,
                     *         "stock": 40
                     *       }
                     *     ]
                     */
                    sku_overrides?: {
                        sku_key: string;
                        sku_code?: string;
                        /** @example 12.9 */
                        price?: number;
                        /** @example 120 */
                        stock?: number;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example 1 */
                            id: number;
                            product: {
                                /** @example 1 */
                                id: number;
                                title: string;
                            };
                            sku_diff: {
                                added: number;
                                kept: number;
                                inactivated: number;
                            };
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiProductsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["AdminProductDetail"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiProductsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "product": {
                 *         "title": "Enamel mug",
                 *         "price": 12.9,
                 *         "subtitle": "Light, unbreakable, dishwasher-safe",
                 *         "origin_price": 15.9,
                 *         "stock": 120,
                 *         "category_id": 0,
                 *         "cover": "/uploads/demo/enamel-mug.svg",
                 *         "status": 1,
                 *         "sort": 1,
                 *         "detail": "text",
                 *         "translations": {
                 *           "zh-CN": {
                 *             "title": "搪瓷杯",
                 *             "subtitle": "",
                 *             "specs": {
                 *               "Colour": "颜色",
                 *               "Cream": "米白"
                 *             }
                 *           }
                 *         }
                 *       },
                 *       "images": [
                 *         {
                 *           "url": "/uploads/demo/enamel-mug-2.svg",
                 *           "sort": 0
                 *         }
                 *       ],
                 *       "sku_generation_mode": "auto",
                 *       "spec_schema": [
                 *         {
                 *           "name": "Colour",
                 *           "values": [
                 *             "Cream",
                 *             "Navy"
                 *           ]
                 *         }
                 *       ],
                 *       "sku_overrides": [
                 *         {
                 *           "sku_key": "Colour:Cream",
                 *           "sku_code": "MUG-C",
                 *           "price": 12.9,
                 *           "stock": 40
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    product?: {
                        /** @example Enamel mug */
                        title?: string;
                        /** @example 12.9 */
                        price?: number;
                        /** @example Light, unbreakable, dishwasher-safe */
                        subtitle?: string;
                        /** @example 15.9 */
                        origin_price?: number;
                        /** @example 120 */
                        stock?: number;
                        /** @example 0 */
                        category_id?: number;
                        /** @example /uploads/demo/enamel-mug.svg */
                        cover?: string;
                        /** @example 1 */
                        status?: number;
                        sort?: number;
                        /** @description Page content: an object or its JSON text */
                        detail?: unknown;
                        /**
                         * @example {
                         *       "zh-CN": {
                         *         "title": "搪瓷杯",
                         *         "subtitle": "",
                         *         "specs": {
                         *           "Colour": "颜色",
                         *           "Cream": "米白"
                         *         }
                         *       }
                         *     }
                         */
                        translations?: {
                            en?: {
                                title?: string;
                                subtitle?: string;
                                detail?: {
                                    /** @constant */
                                    version: 1;
                                    blocks: {
                                        /** @default  */
                                        id?: string;
                                        type: string;
                                        /** @default {} */
                                        props?: {
                                            [key: string]: unknown;
                                        };
                                    }[];
                                };
                                specs?: {
                                    [key: string]: string;
                                };
                                /** @description of these the text in the shop’s language has changed since; send [] to take the marks away */
                                outdated?: ("title" | "subtitle" | "detail")[];
                            };
                            "zh-CN"?: {
                                title?: string;
                                subtitle?: string;
                                detail?: {
                                    /** @constant */
                                    version: 1;
                                    blocks: {
                                        /** @default  */
                                        id?: string;
                                        type: string;
                                        /** @default {} */
                                        props?: {
                                            [key: string]: unknown;
                                        };
                                    }[];
                                };
                                specs?: {
                                    [key: string]: string;
                                };
                                /** @description of these the text in the shop’s language has changed since; send [] to take the marks away */
                                outdated?: ("title" | "subtitle" | "detail")[];
                            };
                        };
                    };
                    /**
                     * @example [
                     *       {
                     *         "url": "/uploads/demo/enamel-mug-2.svg",
                     *         "sort": 0
                     *       }
                     *     ]
                     */
                    images?: {
                        url: string;
                        sort?: number;
                    }[];
                    /** @constant */
                    sku_generation_mode?: "auto";
                    /**
                     * @example [
                     *       {
                     *         "name": "Colour",
                     *         "values": [
                     *           "Cream",
                     *           "Navy"
                     *         ]
                     *       }
                     *     ]
                     */
                    spec_schema?: {
                        name: string;
                        values: string[];
                    }[];
                    /**
                     * @example [
                     *       {
                     *         "sku_key": "Colour:Cream",
                     *         "sku_code": "MUG-C",
                     *         "price": 12.9,
                     *         "stock": 40
                     *       }
                     *     ]
                     */
                    sku_overrides?: {
                        sku_key: string;
                        sku_code?: string;
                        /** @example 12.9 */
                        price?: number;
                        /** @example 120 */
                        stock?: number;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            sku_diff: {
                                added: number;
                                kept: number;
                                inactivated: number;
                            };
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteAdminApiProductsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiProductsBatchStatus: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         1
                 *       ],
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /**
                     * @example [
                     *       1
                     *     ]
                     */
                    ids: number[];
                    /** @example 1 */
                    status: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["BatchResult"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiProductsBatchCategory: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         1
                 *       ],
                 *       "category_id": 0
                 *     }
                 */
                "application/json": {
                    /**
                     * @example [
                     *       1
                     *     ]
                     */
                    ids: number[];
                    /** @example 0 */
                    category_id: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["BatchResult"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiProductsBatchPrice: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         1
                 *       ],
                 *       "adjustment": {
                 *         "type": "percent",
                 *         "value": -12.5,
                 *         "scope": "all"
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @example [
                     *       1
                     *     ]
                     */
                    ids: number[];
                    adjustment: {
                        /**
                         * @example percent
                         * @enum {string}
                         */
                        type: "set" | "percent" | "amount";
                        /**
                         * @description an amount, or a percentage: -12.5 takes an eighth off
                         * @example -12.5
                         */
                        value: number;
                        /**
                         * @description whose price: of the product and all its SKUs (default), or of one of the two alone
                         * @enum {string}
                         */
                        scope?: "all" | "product" | "sku";
                    };
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["BatchResult"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiCategories: {
        parameters: {
            query?: {
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["AdminCategory"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiCategories: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Mugs",
                 *       "parent_id": 0,
                 *       "icon": "/uploads/demo/icon-kitchen.svg",
                 *       "sort": 10,
                 *       "status": 1,
                 *       "translations": {
                 *         "zh-CN": {
                 *           "name": "马克杯"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @example Mugs */
                    name: string;
                    /** @example 0 */
                    parent_id?: number;
                    /** @example /uploads/demo/icon-kitchen.svg */
                    icon?: string;
                    /** @example 10 */
                    sort?: number;
                    /** @example 1 */
                    status?: number;
                    /**
                     * @example {
                     *       "zh-CN": {
                     *         "name": "马克杯"
                     *       }
                     *     }
                     */
                    translations?: {
                        en?: {
                            name?: string;
                            /** @description the shop’s own name has changed since */
                            outdated?: "name"[];
                        };
                        "zh-CN"?: {
                            name?: string;
                            /** @description the shop’s own name has changed since */
                            outdated?: "name"[];
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Category"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiCategoriesTree: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example 1 */
                            id: number;
                            /** @example 0 */
                            parent_id: number;
                            name: string;
                            icon: string;
                            sort: number;
                            status: number;
                            /** @description products in it and below it, whatever their status */
                            product_count: number;
                            children: components["schemas"]["CategoryBranch"][];
                        }[];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiCategoriesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Mugs",
                 *       "parent_id": 0,
                 *       "icon": "/uploads/demo/icon-kitchen.svg",
                 *       "sort": 10,
                 *       "status": 1,
                 *       "translations": {
                 *         "zh-CN": {
                 *           "name": "马克杯"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @example Mugs */
                    name?: string;
                    /** @example 0 */
                    parent_id?: number;
                    /** @example /uploads/demo/icon-kitchen.svg */
                    icon?: string;
                    /** @example 10 */
                    sort?: number;
                    /** @example 1 */
                    status?: number;
                    /**
                     * @example {
                     *       "zh-CN": {
                     *         "name": "马克杯"
                     *       }
                     *     }
                     */
                    translations?: {
                        en?: {
                            name?: string;
                            /** @description the shop’s own name has changed since */
                            outdated?: "name"[];
                        };
                        "zh-CN"?: {
                            name?: string;
                            /** @description the shop’s own name has changed since */
                            outdated?: "name"[];
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteAdminApiCategoriesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiSpecTemplates: {
        parameters: {
            query?: {
                /** @example text */
                keyword?: string;
                /** @example 1 */
                status?: number;
                /** @example 0 */
                category_id?: number;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["SpecTemplate"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiSpecTemplates: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Clothing",
                 *       "category_ids": [
                 *         1
                 *       ],
                 *       "attrs": [
                 *         {
                 *           "name": "Size",
                 *           "values": [
                 *             "S",
                 *             "M",
                 *             "L"
                 *           ]
                 *         }
                 *       ],
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /** @example Clothing */
                    name: string;
                    category_ids?: number[];
                    /**
                     * @example [
                     *       {
                     *         "name": "Size",
                     *         "values": [
                     *           "S",
                     *           "M",
                     *           "L"
                     *         ]
                     *       }
                     *     ]
                     */
                    attrs?: {
                        name: string;
                        values: string[];
                    }[];
                    /** @example 1 */
                    status?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["SpecTemplate"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiSpecTemplatesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["SpecTemplate"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiSpecTemplatesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Clothing",
                 *       "category_ids": [
                 *         1
                 *       ],
                 *       "attrs": [
                 *         {
                 *           "name": "Size",
                 *           "values": [
                 *             "S",
                 *             "M",
                 *             "L"
                 *           ]
                 *         }
                 *       ],
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /** @example Clothing */
                    name?: string;
                    category_ids?: number[];
                    /**
                     * @example [
                     *       {
                     *         "name": "Size",
                     *         "values": [
                     *           "S",
                     *           "M",
                     *           "L"
                     *         ]
                     *       }
                     *     ]
                     */
                    attrs?: {
                        name: string;
                        values: string[];
                    }[];
                    /** @example 1 */
                    status?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteAdminApiSpecTemplatesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiWmsWarehouses: {
        parameters: {
            query?: {
                /** @example text */
                keyword?: string;
                /** @example 1 */
                status?: number;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["Warehouse"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiWmsWarehouses: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "WH-1",
                 *       "name": "Main warehouse",
                 *       "address": "text",
                 *       "contact": "text",
                 *       "phone": "text",
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /** @example WH-1 */
                    code: string;
                    /** @example Main warehouse */
                    name: string;
                    address?: string;
                    contact?: string;
                    phone?: string;
                    /**
                     * @description 0 disabled; anything else is enabled
                     * @example 1
                     */
                    status?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Warehouse"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiWmsWarehousesId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "code": "WH-1",
                 *       "name": "Main warehouse",
                 *       "address": "text",
                 *       "contact": "text",
                 *       "phone": "text",
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /** @example WH-1 */
                    code?: string;
                    /** @example Main warehouse */
                    name?: string;
                    address?: string;
                    contact?: string;
                    phone?: string;
                    /** @example 1 */
                    status?: 0 | 1;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiWmsWarehousesIdStatus: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": 1
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    status: 0 | 1;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiWmsDocs: {
        parameters: {
            query?: {
                /** @example 0 */
                warehouse_id?: number;
                /** @example inbound */
                doc_type?: "inbound" | "outbound";
                /** @example draft */
                status?: "draft" | "completed" | "canceled";
                /** @example text */
                doc_no?: string;
                /** @example 2026-03-01 00:00:00 */
                start_at?: string;
                /** @example 2099-03-01 */
                end_at?: string;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["WarehouseDocument"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiWmsDocs: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "warehouse_id": 1,
                 *       "doc_type": "inbound",
                 *       "remark": "text",
                 *       "items": [
                 *         {
                 *           "sku_id": 1,
                 *           "qty": 5,
                 *           "unit_cost": 12.9,
                 *           "remark": "text"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    warehouse_id: number;
                    /** @enum {string} */
                    doc_type: "inbound" | "outbound";
                    remark?: string;
                    /** @description a SKU may be there twice */
                    items: {
                        /** @example 1 */
                        sku_id: number;
                        /** @example 5 */
                        qty: number;
                        /** @example 12.9 */
                        unit_cost?: number;
                        remark?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["WarehouseDocumentDetail"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiWmsDocsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["WarehouseDocumentDetail"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiWmsDocsId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "warehouse_id": 1,
                 *       "doc_type": "inbound",
                 *       "remark": "text",
                 *       "items": [
                 *         {
                 *           "sku_id": 1,
                 *           "qty": 5,
                 *           "unit_cost": 12.9,
                 *           "remark": "text"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    warehouse_id?: number;
                    /** @enum {string} */
                    doc_type?: "inbound" | "outbound";
                    remark?: string;
                    /** @description a SKU may be there twice */
                    items?: {
                        /** @example 1 */
                        sku_id: number;
                        /** @example 5 */
                        qty: number;
                        /** @example 12.9 */
                        unit_cost?: number;
                        remark?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiWmsDocsIdComplete: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiWmsDocsIdCancel: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiWmsStocks: {
        parameters: {
            query?: {
                /** @example text */
                keyword?: string;
                /** @example 0 */
                warehouse_id?: number;
                /** @example 0 */
                sku_id?: number;
                /** @example false */
                warning_only?: boolean;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["WarehouseStock"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiWmsStocksBySkus: {
        parameters: {
            query?: {
                /** @example 1,2 */
                sku_ids?: string;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["WarehouseStock"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiWmsStocksIdSafety: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "safe_qty": 10
                 *     }
                 */
                "application/json": {
                    /** @example 10 */
                    safe_qty: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiWmsStocksIdSafeQty: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "safe_qty": 10
                 *     }
                 */
                "application/json": {
                    /** @example 10 */
                    safe_qty: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiWmsMovements: {
        parameters: {
            query?: {
                /** @example 0 */
                warehouse_id?: number;
                /** @example 0 */
                sku_id?: number;
                /** @example inbound */
                biz_type?: "inbound" | "outbound" | "order_outbound" | "reserve" | "release";
                /** @example text */
                doc_no?: string;
                /** @example 2026-03-01 00:00:00 */
                start_at?: string;
                /** @example 2099-03-01 */
                end_at?: string;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["StockMovement"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiInventoryTasks: {
        parameters: {
            query?: {
                /** @example pending */
                status?: "pending" | "processing" | "success" | "failed";
                /** @example 1772358600000000001 */
                biz_no?: string;
                /** @example reserve */
                action?: "reserve" | "confirm" | "release" | "deduct" | "restore" | "sync_sku";
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["InventoryTask"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiInventoryTasksIdRetry: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example 1 */
                            retried: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiExternalWmsCallback: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "app_key": "demo-key",
                 *       "timestamp": "1772358600",
                 *       "nonce": "9f2c1e7a",
                 *       "sign": "0000000000000000000000000000000000000000000000000000000000000000",
                 *       "body": "{\"request_id\":\"order:1772358600000000001:reserve\",\"callback_id\":\"cb-1\",\"status\":\"success\",\"message\":\"\"}"
                 *     }
                 */
                "application/json": {
                    /** @example demo-key */
                    app_key: string;
                    /** @description Unix seconds, as a text or a number */
                    timestamp: string | number;
                    /**
                     * @description another one in every message
                     * @example 9f2c1e7a
                     */
                    nonce: string;
                    /**
                     * @description lowercase hex SHA-256 of app_key, LF, timestamp, LF, nonce, LF, body, LF, app_secret
                     * @example 0000000000000000000000000000000000000000000000000000000000000000
                     */
                    sign: string;
                    /**
                     * @description the inner JSON as text: request_id, callback_id, status, message
                     * @example {"request_id":"order:1772358600000000001:reserve","callback_id":"cb-1","status":"success","message":""}
                     */
                    body: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @constant */
                            received: true;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiV1Cart: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["CartLine"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiV1CartAdd: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sku_id": 1,
                 *       "qty": 2,
                 *       "activity_product_id": 0
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    sku_id: number;
                    /**
                     * @description below 1 counts as 1; a line holds at most 9999
                     * @default 1
                     * @example 2
                     */
                    qty?: number;
                    /**
                     * @default 0
                     * @example 0
                     */
                    activity_product_id?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putApiV1CartQty: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sku_id": 1,
                 *       "qty": 2,
                 *       "activity_product_id": 0
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    sku_id: number;
                    /**
                     * @description 0 or less removes the line
                     * @example 2
                     */
                    qty: number;
                    /**
                     * @default 0
                     * @example 0
                     */
                    activity_product_id?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiV1CartQty: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sku_id": 1,
                 *       "qty": 2,
                 *       "activity_product_id": 0
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    sku_id: number;
                    /**
                     * @description 0 or less removes the line
                     * @example 2
                     */
                    qty: number;
                    /**
                     * @default 0
                     * @example 0
                     */
                    activity_product_id?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteApiV1CartSkuId: {
        parameters: {
            query?: {
                /** @example 0 */
                activity_product_id?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                sku_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "activity_product_id": 0
                 *     }
                 */
                "application/json": {
                    /** @example 0 */
                    activity_product_id?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiV1Orders: {
        parameters: {
            query?: {
                /** @example 0 */
                status?: number;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["OrderView"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiV1Orders: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "address_id": 1,
                 *       "payment_method": "wechat",
                 *       "items": [
                 *         {
                 *           "sku_id": 1,
                 *           "activity_product_id": 0
                 *         }
                 *       ],
                 *       "sku_ids": [
                 *         1
                 *       ],
                 *       "remark": "Please ring twice"
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    address_id: number;
                    /**
                     * @default wechat
                     * @enum {string}
                     */
                    payment_method?: "wechat" | "alipay";
                    /**
                     * @description Wins over sku_ids. A pair that is not in the cart is bought directly, one piece.
                     * @example [
                     *       {
                     *         "sku_id": 1,
                     *         "activity_product_id": 0
                     *       }
                     *     ]
                     */
                    items?: {
                        /** @example 1 */
                        sku_id: number;
                        /**
                         * @default 0
                         * @example 0
                         */
                        activity_product_id?: number;
                    }[];
                    /** @description Ticked cart lines; with neither, the whole cart */
                    sku_ids?: number[];
                    /**
                     * @default
                     * @example Please ring twice
                     */
                    remark?: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Order"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiV1OrdersId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["OrderView"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiV1OrdersIdPay: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiV1OrdersIdCancel: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiOrders: {
        parameters: {
            query?: {
                /** @example 0 */
                status?: number;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @example  */
                keyword?: string;
                /** @example 2026-03-01 */
                time_start?: string;
                /** @example 2099-03-01 */
                time_end?: string;
                /** @example 0 */
                amount_min?: number;
                /** @example 1000 */
                amount_max?: number;
                /** @example  */
                logistics_company?: string;
                /** @example  */
                province?: string;
                /** @example wechat */
                pay_method?: string;
                /** @example false */
                has_after_sale?: boolean;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["AdminOrder"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiOrdersId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["AdminOrder"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiOrdersIdRepricing: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "items": [
                 *         {
                 *           "item_id": 1,
                 *           "price": 9.9
                 *         }
                 *       ],
                 *       "remark": "Price match"
                 *     }
                 */
                "application/json": {
                    /** @description lines that are not named keep their price */
                    items: {
                        /** @example 1 */
                        item_id: number;
                        /**
                         * @description new unit price of the line
                         * @example 9.9
                         */
                        price: number;
                    }[];
                    /**
                     * @default
                     * @example Price match
                     */
                    remark?: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example 1 */
                            id: number;
                            amount_breakdown: components["schemas"]["AmountBreakdown"];
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiOrdersIdNotes: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Asked for gift wrapping",
                 *       "visible_to": "merchant_only"
                 *     }
                 */
                "application/json": {
                    /** @example Asked for gift wrapping */
                    content: string;
                    /**
                     * @default merchant_only
                     * @enum {string}
                     */
                    visible_to?: "merchant_only";
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example 1 */
                            id: number;
                            /** @description all of the order, oldest first */
                            notes: {
                                /** @example 1 */
                                id: number;
                                content: string;
                                visible_to: string;
                                /**
                                 * Format: date-time
                                 * @example 2026-03-01T09:30:00+08:00
                                 */
                                created_at: string;
                            }[];
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiOrdersIdRemindPay: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "channel": "sms"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    channel: "sms" | "wx" | "chat_app";
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /**
                             * Format: date-time
                             * @example 2026-03-01T09:30:00+08:00
                             */
                            sent_at: string;
                            /** @enum {string} */
                            channel: "sms" | "wx" | "chat_app";
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiOrdersIdReminders: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @example 1 */
                            id: number;
                            /** @example 1 */
                            order_id: number;
                            /** @enum {string} */
                            channel: "sms" | "wx" | "chat_app";
                            /** @enum {string} */
                            status: "queued" | "sent" | "failed" | "skipped";
                            /** @example 1 */
                            attempts: number;
                            last_error: string;
                            /**
                             * Format: date-time
                             * @example 2026-03-01T09:30:00+08:00
                             */
                            created_at: string;
                            sent_at: string | null;
                        }[];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiOrdersIdPrintTemplate: {
        parameters: {
            query?: {
                /** @example order */
                template?: string;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /**
                             * @description HTML
                             * @example <div>Order</div>
                             */
                            template: string;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiOrdersIdTimeline: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @enum {string} */
                            stage: "created" | "paid" | "shipped" | "received" | "completed" | "cancelled";
                            /**
                             * @description title to show
                             * @example Paid
                             */
                            status: string;
                            /**
                             * Format: date-time
                             * @example 2026-03-01T09:30:00+08:00
                             */
                            time: string;
                            /** @example WeChat Pay 25.80 */
                            content: string;
                        }[];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiOrdersBatchNotes: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         1
                 *       ],
                 *       "content": "Asked for gift wrapping",
                 *       "visible_to": "merchant_only"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description at most 1000; one that is there twice counts once
                     * @example [
                     *       1
                     *     ]
                     */
                    ids: number[];
                    /** @example Asked for gift wrapping */
                    content: string;
                    /**
                     * @default merchant_only
                     * @enum {string}
                     */
                    visible_to?: "merchant_only";
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["BatchResult"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiOrdersBatchRepricing: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         1
                 *       ],
                 *       "adjustment": {
                 *         "type": "percent",
                 *         "value": -10
                 *       },
                 *       "remark": "Price match"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description at most 1000; one that is there twice counts once
                     * @example [
                     *       1
                     *     ]
                     */
                    ids: number[];
                    adjustment: {
                        /** @enum {string} */
                        type: "percent" | "amount";
                        /**
                         * @description percent: payable x (1 + value/100); amount: payable + value
                         * @example -10
                         */
                        value: number;
                    };
                    /**
                     * @default
                     * @example Price match
                     */
                    remark?: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["BatchResult"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiOrdersBatchClose: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         1
                 *       ],
                 *       "reason": "Sold out"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description at most 1000; one that is there twice counts once
                     * @example [
                     *       1
                     *     ]
                     */
                    ids: number[];
                    /**
                     * @default
                     * @example Sold out
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["BatchResult"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiPayCreate: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "order_id": 1,
                 *       "provider": "sandbox",
                 *       "return_url": "http://127.0.0.1:8080/orders"
                 *     }
                 */
                "application/json": {
                    /** @example 1 */
                    order_id: number;
                    /**
                     * @description default: the setting pay.provider
                     * @enum {string}
                     */
                    provider?: "sandbox" | "instant";
                    /**
                     * @description where the cashier sends the shopper afterwards
                     * @default
                     * @example http://127.0.0.1:8080/orders
                     */
                    return_url?: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Payment"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiPayStatus: {
        parameters: {
            query?: {
                /** @example PAY17723586000000123456789 */
                payment_no?: string;
                /** @example 1 */
                order_id?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["Payment"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiPayCallback: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "provider": "sandbox",
                 *       "payment_no": "PAY17723586000000123456789",
                 *       "trade_no": "SBX20260301000001",
                 *       "amount": 12.9,
                 *       "currency": "CNY",
                 *       "status": "succeeded",
                 *       "paid_at": "2026-03-01T09:30:00+08:00"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    provider: "sandbox";
                    /** @example PAY17723586000000123456789 */
                    payment_no: string;
                    /**
                     * @description the provider's own number of the money; needed when it succeeded
                     * @default
                     * @example SBX20260301000001
                     */
                    trade_no?: string;
                    /** @example 12.9 */
                    amount: number;
                    /** @example CNY */
                    currency: string;
                    /** @enum {string} */
                    status: "succeeded" | "failed";
                    /**
                     * Format: date-time
                     * @example 2026-03-01T09:30:00+08:00
                     */
                    paid_at?: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @constant */
                            received: true;
                            /** @example PAY17723586000000123456789 */
                            payment_no: string;
                            /**
                             * @description what became of the money; refunding: it was not needed and goes back
                             * @example succeeded
                             * @enum {string}
                             */
                            status: "pending" | "succeeded" | "failed" | "closed" | "refunding" | "refunded";
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    postApiPaySandboxPaymentNo: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example PAY17723586000000123456789 */
                payment_no: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "status": "succeeded"
                 *     }
                 */
                "application/json": {
                    /**
                     * @default succeeded
                     * @enum {string}
                     */
                    status?: "succeeded" | "failed";
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @constant */
                            received: true;
                            /** @example PAY17723586000000123456789 */
                            payment_no: string;
                            /**
                             * @description what became of the money; refunding: it was not needed and goes back
                             * @example succeeded
                             * @enum {string}
                             */
                            status: "pending" | "succeeded" | "failed" | "closed" | "refunding" | "refunded";
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiOrdersIdShip: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "ship_type": "initial",
                 *       "delivery_type": "express",
                 *       "company": "SF",
                 *       "tracking_no": "SF1234567890",
                 *       "rider_name": "",
                 *       "rider_phone": "",
                 *       "after_sale_case_id": 0,
                 *       "remark": "Two parcels"
                 *     }
                 */
                "application/json": {
                    /**
                     * @default initial
                     * @enum {string}
                     */
                    ship_type?: "initial" | "reship";
                    /**
                     * @default express
                     * @enum {string}
                     */
                    delivery_type?: "express" | "local";
                    /**
                     * @description Carrier code; needed for express
                     * @default
                     * @example SF
                     */
                    company?: string;
                    /**
                     * @description Needed for express
                     * @default
                     * @example SF1234567890
                     */
                    tracking_no?: string;
                    /**
                     * @description Needed for local delivery
                     * @default
                     * @example
                     */
                    rider_name?: string;
                    /**
                     * @description Needed for local delivery
                     * @default
                     * @example
                     */
                    rider_phone?: string;
                    /**
                     * @default 0
                     * @example 0
                     */
                    after_sale_case_id?: number;
                    /**
                     * @default
                     * @example Two parcels
                     */
                    remark?: string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postAdminApiOrdersBatchShip: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example [
                 *       {
                 *         "order_id": 1,
                 *         "company": "SF",
                 *         "tracking_no": "SF1234567890"
                 *       }
                 *     ]
                 */
                "application/json": {
                    /** @example 1 */
                    order_id: number;
                    /**
                     * @description Carrier code; needed for express
                     * @default
                     * @example SF
                     */
                    company?: string;
                    /**
                     * @description Needed for express
                     * @default
                     * @example SF1234567890
                     */
                    tracking_no?: string;
                }[];
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["BatchResult"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminSettingsKey: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example ratelimit.* */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["RateLimitSetting"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    patchApiAdminSettingsKey: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example ratelimit.* */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "user_default_rpm": 120,
                 *       "user_default_tpm": 200000
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["RateLimitSetting"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminSettingsKeyChanges: {
        parameters: {
            query?: {
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example ratelimit.* */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["RateLimitSettingChange"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminApiTokens: {
        parameters: {
            query?: {
                /** @example 1 */
                user_id?: number;
                /** @example active */
                status?: "active" | "revoked" | "expired";
                /** @example Prod */
                keyword?: string;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["ApiToken"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiAdminApiTokens: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user_id": 1,
                 *       "name": "Production",
                 *       "rpm_limit": 600,
                 *       "tpm_limit": 600,
                 *       "expires_at": "2099-12-31T23:59:59+08:00"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description the shopper it belongs to
                     * @example 1
                     */
                    user_id: number;
                    /**
                     * @description for recognition
                     * @example Production
                     */
                    name?: string;
                    /**
                     * @description requests per minute; null inherits, 0 is unlimited
                     * @example 600
                     */
                    rpm_limit?: number | null;
                    /**
                     * @description tokens per minute; null inherits, 0 is unlimited
                     * @example 600
                     */
                    tpm_limit?: number | null;
                    /**
                     * @description when it ends; without offset in the time of the shop, a date counts to its end; null: never
                     * @example 2099-12-31T23:59:59+08:00
                     */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["ApiTokenSecret"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminApiTokensId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["ApiToken"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteApiAdminApiTokensId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: null;
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    patchApiAdminApiTokensId: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Production",
                 *       "rpm_limit": 600,
                 *       "tpm_limit": 600,
                 *       "expires_at": "2099-12-31T23:59:59+08:00"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description for recognition
                     * @example Production
                     */
                    name?: string;
                    /**
                     * @description requests per minute; null inherits, 0 is unlimited
                     * @example 600
                     */
                    rpm_limit?: number | null;
                    /**
                     * @description tokens per minute; null inherits, 0 is unlimited
                     * @example 600
                     */
                    tpm_limit?: number | null;
                    /**
                     * @description when it ends; without offset in the time of the shop, a date counts to its end; null: never
                     * @example 2099-12-31T23:59:59+08:00
                     */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["ApiToken"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    postApiAdminApiTokensIdRotate: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "grace_seconds": 3600
                 *     }
                 */
                "application/json": {
                    /**
                     * @description for so long the secret before is good too; default: it ends at once
                     * @example 3600
                     */
                    grace_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["ApiTokenSecret"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminApiTokensIdChanges: {
        parameters: {
            query?: {
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["ApiTokenChange"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminUsersIdRatelimit: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["UserRateLimit"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putApiAdminUsersIdRatelimit: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "rpm_limit": 600,
                 *       "tpm_limit": 600
                 *     }
                 */
                "application/json": {
                    /**
                     * @description requests per minute; null inherits, 0 is unlimited
                     * @example 600
                     */
                    rpm_limit?: number | null;
                    /**
                     * @description tokens per minute; null inherits, 0 is unlimited
                     * @example 600
                     */
                    tpm_limit?: number | null;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["UserRateLimit"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    deleteApiAdminUsersIdRatelimit: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["UserRateLimit"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminUsersIdRatelimitChanges: {
        parameters: {
            query?: {
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path: {
                /** @example 1 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["ApiTokenChange"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminRatelimitUsage: {
        parameters: {
            query: {
                /** @example model */
                kind: "user" | "token" | "ip" | "model";
                /** @example gpt-4o-mini */
                key: string;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["RateLimitUsage"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description A refusal with this HTTP status */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    deleteApiAdminRatelimitUsage: {
        parameters: {
            query: {
                /** @example model */
                kind: "user" | "token" | "ip" | "model";
                /** @example gpt-4o-mini */
                key: string;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            /** @description logs forgotten: 1, or 0 where there was none */
                            reset: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description A refusal with this HTTP status */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminGatewayUpstreams: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["GatewayUpstream"][];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiAdminGatewayUsage: {
        parameters: {
            query?: {
                /** @example user */
                by?: "user" | "token" | "model" | "day";
                /** @example 2026-03-01 */
                from?: string;
                /** @example 2099-03-01 */
                to?: string;
                /** @example 1 */
                page?: number;
                /** @example 20 */
                size?: number;
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: {
                            list: components["schemas"]["GatewayUsage"][];
                            total: number;
                            page: number;
                            size: number;
                        };
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiMenus: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["AdminMenu"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    getApiV1SiteSettings: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["SiteSettings"];
                    } | components["schemas"]["Refusal"];
                };
            };
            default: components["responses"]["Fault"];
        };
    };
    getAdminApiSiteSettings: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["SiteSettings"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    putAdminApiSiteSettings: {
        parameters: {
            query?: {
                /** @description Language of messages and labels; wins over Accept-Language */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /**
                 * @description Makes the write safe to repeat for 24 hours: the same key with the same request answers what the first one answered (header `Idempotency-Replayed: true`). With another request it is refused with 422, while the first one runs, or when it is not known whether it took effect, with 409.
                 * @example 6f1c9a52-8e0b-4c57-9d0e-2f2f1a6b7c3d
                 */
                "Idempotency-Key"?: components["parameters"]["idempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "site_name": "Tradepost",
                 *       "site_logo": "",
                 *       "seo_title": "Tradepost - online shop",
                 *       "seo_keywords": "shop, online shop",
                 *       "seo_description": "Good things, sent quickly.",
                 *       "icp": "",
                 *       "hero_badge": "New in",
                 *       "hero_title": "Good things for every day",
                 *       "hero_subtitle": "Chosen with care, sent quickly.",
                 *       "hero_btn_text": "Shop now",
                 *       "hero_btn_link": "/products",
                 *       "color_primary": "#1f6feb",
                 *       "color_primary_light": "#5b97f5",
                 *       "color_primary_dark": "#174ea6",
                 *       "color_bg_page": "#f6f7f9",
                 *       "color_bg_header": "#ffffff",
                 *       "color_bg_footer": "#f9fafb",
                 *       "color_price": "#d9342b",
                 *       "color_hero_from": "#1f6feb",
                 *       "color_hero_to": "#6d4aff",
                 *       "shop_name": "Tradepost",
                 *       "service_phone": "400-123-4567",
                 *       "order_auto_cancel_minutes": 30
                 *     }
                 */
                "application/json": {
                    /**
                     * @description name of the site
                     * @example Tradepost
                     */
                    site_name?: string;
                    /**
                     * @description picture beside the name
                     * @example
                     */
                    site_logo?: string;
                    /**
                     * @description title for search engines
                     * @example Tradepost - online shop
                     */
                    seo_title?: string;
                    /**
                     * @description keywords for search engines
                     * @example shop, online shop
                     */
                    seo_keywords?: string;
                    /**
                     * @description description for search engines
                     * @example Good things, sent quickly.
                     */
                    seo_description?: string;
                    /**
                     * @description registration number in the footer
                     * @example
                     */
                    icp?: string;
                    /**
                     * @description small text above the title of the home page
                     * @example New in
                     */
                    hero_badge?: string;
                    /**
                     * @description title of the home page
                     * @example Good things for every day
                     */
                    hero_title?: string;
                    /**
                     * @description text below the title of the home page
                     * @example Chosen with care, sent quickly.
                     */
                    hero_subtitle?: string;
                    /**
                     * @description button of the home page
                     * @example Shop now
                     */
                    hero_btn_text?: string;
                    /**
                     * @description where the button of the home page leads
                     * @example /products
                     */
                    hero_btn_link?: string;
                    /**
                     * @description main colour
                     * @example #1f6feb
                     */
                    color_primary?: string;
                    /**
                     * @description lighter main colour
                     * @example #5b97f5
                     */
                    color_primary_light?: string;
                    /**
                     * @description darker main colour
                     * @example #174ea6
                     */
                    color_primary_dark?: string;
                    /**
                     * @description background of pages
                     * @example #f6f7f9
                     */
                    color_bg_page?: string;
                    /**
                     * @description background of the header
                     * @example #ffffff
                     */
                    color_bg_header?: string;
                    /**
                     * @description background of the footer
                     * @example #f9fafb
                     */
                    color_bg_footer?: string;
                    /**
                     * @description prices
                     * @example #d9342b
                     */
                    color_price?: string;
                    /**
                     * @description where the gradient of the home page begins
                     * @example #1f6feb
                     */
                    color_hero_from?: string;
                    /**
                     * @description where the gradient of the home page ends
                     * @example #6d4aff
                     */
                    color_hero_to?: string;
                    /**
                     * @description name of the shop
                     * @example Tradepost
                     */
                    shop_name?: string;
                    /**
                     * @description phone number of customer service
                     * @example 400-123-4567
                     */
                    service_phone?: string;
                    /**
                     * @description minutes after which an unpaid order is cancelled, also as text; the setting orders.unpaid_minutes; empty = as it is
                     * @example 30
                     */
                    order_auto_cancel_minutes?: number | string;
                };
            };
        };
        responses: {
            /** @description Success (code 0), or a refusal by a rule (code other than 0, data null) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        message: string;
                        /** @description repeats message */
                        msg: string;
                        data: components["schemas"]["SiteSettings"];
                    } | components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            default: components["responses"]["Fault"];
        };
    };
    get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A browser is led to the API reference, others are told where it is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the process serves requests */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the database and the store answer too; 503 when not */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getPing: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Answers pong */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus metrics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
        };
    };
    getOpenapiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getAsyncapiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document of the WebSocket channels */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description API reference page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
        };
    };
    getDocsFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Files of the API reference page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
        };
    };
}
