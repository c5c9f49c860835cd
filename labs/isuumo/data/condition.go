package data

import (
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// ChairCondition returns the choices of the search for chairs that generated data
// has: those of the contest, in its order.
func ChairCondition() isuumo.ChairCondition {
	return isuumo.ChairCondition{
		Width:   rangesBetween("cm", 80, 110, 150),
		Height:  rangesBetween("cm", 80, 110, 150),
		Depth:   rangesBetween("cm", 80, 110, 150),
		Price:   rangesBetween("円", 3000, 6000, 9000, 12_000, 15_000),
		Color:   listWords("黒 白 赤 青 緑 黄 紫 ピンク オレンジ 水色 ネイビー ベージュ"),
		Feature: listWords(chairFeatures),
		Kind:    listWords("ゲーミングチェア 座椅子 エルゴノミクス ハンモック"),
	}
}

// EstateCondition returns the choices of the search for estates that generated data
// has: those of the contest, in its order.
func EstateCondition() isuumo.EstateCondition {
	return isuumo.EstateCondition{
		DoorWidth:  rangesBetween("cm", 80, 110, 150),
		DoorHeight: rangesBetween("cm", 80, 110, 150),
		Rent:       rangesBetween("円", 50_000, 100_000, 150_000),
		Feature:    listWords(estateFeatures),
	}
}

// rangesBetween returns the choices between some bounds; the first and the last are open.
func rangesBetween(unit string, bounds ...int64) isuumo.Ranges {
	out := isuumo.Ranges{Suffix: unit}
	low := int64(isuumo.Open)
	for i, high := range append(bounds, isuumo.Open) {
		out.Ranges = append(out.Ranges, isuumo.Range{ID: int64(i), Min: low, Max: high})
		low = high
	}
	return out
}

func listWords(words string) isuumo.List { return isuumo.List{List: strings.Fields(words)} }

const chairFeatures = `ヘッドレスト付き 肘掛け付き キャスター付き アーム高さ調節可能 リクライニング可能 高さ調節可能 通気性抜群 メタルフレーム 低反発 木製
背もたれつき 回転可能 レザー製 昇降式 デザイナーズ 金属製 プラスチック製 法事用 和風 中華風
西洋風 イタリア製 国産 背もたれなし ラテン風 布貼地 スチール製 メッシュ貼地 オフィス用 料理店用
自宅用 キャンプ用 クッション性抜群 モーター付き ベッド一体型 ディスプレイ配置可能 ミニ机付き スピーカー付属 中国製 アンティーク
折りたたみ可能 重さ500g以内 24回払い無金利 現代的デザイン 近代的なデザイン ルネサンス的なデザイン アームなし オーダーメイド可能 ポリカーボネート製 フットレスト付き`

const estateFeatures = `最上階 防犯カメラ ウォークインクローゼット ワンルーム ルーフバルコニー付 エアコン付き 駐輪場あり プロパンガス 駐車場あり 防音室
追い焚き風呂 オートロック 即入居可 IHコンロ 敷地内駐車場 トランクルーム 角部屋 カスタマイズ可 DIY可 ロフト
シューズボックス インターネット無料 地下室 敷地内ゴミ置場 管理人有り 宅配ボックス ルームシェア可 セキュリティ会社加入済 メゾネット 女性限定
バイク置場あり エレベーター ペット相談可 洗面所独立 都市ガス 浴室乾燥機 インターネット接続可 テレビ・通信 専用庭 システムキッチン
高齢者歓迎 ケーブルテレビ 床下収納 バス・トイレ別 駐車場2台以上 楽器相談可 フローリング オール電化 TVモニタ付きインタホン デザイナーズ物件`
